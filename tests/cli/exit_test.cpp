// The exit codes of `baton run`, the environment of the command, and starts in unusual environments.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "baton.hpp"

namespace baton::testing {
namespace {

class Exit : public Cli {
protected:
    std::optional<int> code_of(const start_options& options) {
        last_ = std::make_unique<child>(options);
        return last_->wait();
    }
    std::unique_ptr<child> last_;
};

TEST_F(Exit, ExitCodeIsThatOfTheCommand) {
    EXPECT_EQ(code_of(run({}, {"true"})), 0);
    EXPECT_EQ(code_of(run_shell({}, "exit 7")), 7);
    EXPECT_EQ(last_->err(), "");
}

TEST_F(Exit, CodeIs128PlusTheSignalThatEndedTheCommand) {
    EXPECT_EQ(code_of(run_shell({}, "kill -SEGV $$")), 139);
    EXPECT_FALSE(last_->ended_by()) << "baton does not die of the command's crash";
    EXPECT_EQ(code_of(run_shell({}, "kill -INT $$")), 130);
    EXPECT_EQ(last_->ended_by(), SIGINT) << "so that a shell ends its loop";
}

TEST_F(Exit, CodeIs127IfTheCommandIsNotFoundAnd126IfItCannotRun) {
    EXPECT_EQ(code_of(run({}, {"/no/such/program"})), 127);
    EXPECT_NE(last_->err().find("cannot run /no/such/program: No such file"), std::string::npos) << last_->err();
    EXPECT_EQ(code_of(run({}, {"no-such-program-in-the-path"})), 127);
    EXPECT_EQ(code_of(run({}, {"/etc/passwd"})), 126);
    EXPECT_EQ(code_of(run({}, {"/"})), 126);
}

TEST_F(Exit, CodeIs64ForWrongUsageAndTheErrorSaysWhatIsAllowed) {
    const std::vector<std::pair<std::vector<std::string>, std::string>> wrong{
        {{"run"}, "-l NAME"},
        {{"run", "--", "true"}, "-l NAME"},
        {{"run", "-l", "a"}, "after --"},
        {{"run", "-l", "a", "--"}, "after --"},
        {{"run", "-l", "", "--", "true"}, "1 to 512 bytes"},
        {{"run", "-l", std::string(513, 'x'), "--", "true"}, "1 to 512 bytes"},
        {{"run", "-l", "a", "-w", "soon", "--", "true"}, "ms, s, m, h"},
        {{"run", "-l", "a", "-w", "1s", "-n", "--", "true"}, "one or the other"},
        {{"run", "-l", "a", "-t", "1ms", "--", "true"}, "at least 100ms"},
        {{"run", "-l", "a", "-k", "6s", "--", "true"}, "half of the ttl"},
        {{"run", "-l", "a", "--on-lost", "cry", "--", "true"}, "stop or ignore"},
        {{"run", "-l", "a", "--if-abandoned", "cry", "--", "true"}, "run or fail"},
        {{"run", "-l", "a", "--if-unavailable", "cry", "--", "true"}, "wait or fail"},
        {{"run", "-l", "a", "-E", "256", "--", "true"}, "0 to 255"},
        {{"run", "-p", "gpu", "--", "true"}, "team/gpu:2/8"},
        {{"run", "-p", "gpu:9/8", "--", "true"}, "1 <= n <= LIMIT"},
        {{"run", "-p", "gpu:two/8", "--", "true"}, "gpu:two:1/8"},
        {{"run", "-p", "gpu:-1/8", "--", "true"}, "gpu:-1:1/8"},
        {{"run", "-p", "gpu: 2/8", "--", "true"}, "gpu: 2:1/8"},
        {{"run", "-p", "gpu:2.0/8", "--", "true"}, "gpu:2.0:1/8"},
        {{"run", "-p", "gpu=2/8", "--", "true"}, "gpu=2:1/8"},
        {{"run", "-l", "a", "-c", "true", "--", "true"}, "one or the other"},
        {{"run", "-l", "a", "--space", "a b", "--", "true"}, "A-Z a-z 0-9"},
        {{"run", "-l", "a", "--note", std::string(1'200, 'n'), "--", "true"}, "--note is too long"},
        {{"run", "-l", "a", "--frobnicate", "--", "true"}, "unknown option: --frobnicate"},
        {{"run", "-l", "a", "-E", "\x1b[31m", "--", "true"}, "-code \\x1b[31m: 0 to 255"},
        {{"run", "-l", "a", "echo", "--", "true"}, "unexpected: echo; the command comes after --"},
        {{"run", "-l", "a", "ls"}, "unexpected: ls; the command comes after --"},
        {{"agent", "--mode", "\x1b[31m"}, "octal"},
        {{"revoke", "a", "--fence", "\x1b[31m"}, "--fence \\x1b[31m: a number"},
        {{"run", "-l"}, "--lock"},
        {{"run", "-l", "a", "-l", "a", "--", "true"}, "a"},
    };
    for (const auto& [arguments, hint] : wrong) {
        EXPECT_EQ(code_of(baton(arguments)), 64) << hint << "\n" << last_->err();
        EXPECT_NE(last_->err().find(hint), std::string::npos) << last_->err();
        EXPECT_EQ(last_->err().find('\x1b'), std::string::npos) << hint;
        EXPECT_EQ(last_->out(), "");
    }
}

/// Verbs and options that --help does not show are for internal use.
TEST_F(Exit, UsageErrorsDoNotListHiddenVerbsAndOptions) {
    EXPECT_EQ(code_of(baton({"frobnicate"})), 64);
    EXPECT_NE(last_->err().find("allowed: run ls why revoke mend resize doctor agent bench functions --help"),
              std::string::npos)
        << last_->err();
    EXPECT_EQ(code_of(baton({"agent", "--frobnicate"})), 64);
    EXPECT_NE(last_->err().find(" --foreground"), std::string::npos) << last_->err();
    EXPECT_EQ(last_->err().find("--idle-ms"), std::string::npos) << last_->err();
}

TEST_F(Exit, FunctionsPrintsTheLibraryAndItsName) {
    EXPECT_EQ(code_of(baton({"functions", "name"})), 0);
    const std::string name = last_->out();
    ASSERT_TRUE(name.starts_with("baton_") && name.ends_with('\n')) << name;
    EXPECT_EQ(code_of(baton({"functions", "print"})), 0);
    EXPECT_TRUE(last_->out().starts_with("#!lua name=" + name)) << last_->out().substr(0, 80);
    EXPECT_EQ(code_of(baton({"functions"})), 64);
    EXPECT_EQ(code_of(baton({"functions", "load"})), 64);
}

TEST_F(Exit, CodeIs78ForAnInvalidAddress) {
    EXPECT_EQ(code_of(run({"-u", "nowhere:"}, {"true"})), 78);
    EXPECT_EQ(code_of(run({"-u", "nonsense"}, {"true"})), 78);
    EXPECT_EQ(code_of(run({"-u", "127.0.0.1:7611/2"}, {"true"})), 78);
    EXPECT_EQ(last_->err(),
              "baton: the address 127.0.0.1:7611/2 has no scheme: for Redis, write redis://127.0.0.1:7611/2\n");
    EXPECT_EQ(code_of(run({"-u", "bob:123@db"}, {"true"})), 78);
    EXPECT_EQ(last_->err().find("123"), std::string::npos) << "it may be a password: " << last_->err();
}

TEST_F(Exit, CodeIs78IfAddressAndOptionBothNameASpace) {
    const std::string url = "redis://db/0?max_ttl=15s&space=a";
    EXPECT_EQ(code_of(run({"-u", url, "--space", "b"}, {"true"})), 78);
    EXPECT_EQ(last_->err(), "baton: the address names a space, and --space names one, too: leave one of them out\n");
    start_options options = run({"-u", url}, {"true"});
    options.environment["BATON_SPACE"] = "b";
    EXPECT_EQ(code_of(options), 78);
    EXPECT_EQ(last_->err(),
              "baton: the address names a space, and BATON_SPACE names one, too: leave one of them out\n");
}

// Otherwise two runs of one name would run at once, and no message would say so.
TEST_F(Exit, CodeIs64ForMemory) {
    const std::vector<std::vector<std::string>> verbs{{"run", "-l", "a", "--", "echo", "ran"},
                                                      {"ls"},
                                                      {"why", "a"},
                                                      {"revoke", "a", "--fence", "1"},
                                                      {"mend", "a"},
                                                      {"resize", "a", "2"},
                                                      {"doctor"}};
    for (const auto& verb : verbs) {
        start_options options = baton(verb);
        options.arguments.front() = BATON_REAL_PROGRAM;
        EXPECT_EQ(code_of(options), 64) << verb.front();
        EXPECT_EQ(last_->err(),
                  "baton: memory: is inside one process, so no other program can see its locks; use local: or a Redis "
                  "address\n");
        EXPECT_EQ(last_->out(), "");
    }
}

TEST_F(Exit, CodeIs124AtMaxHold) {
    EXPECT_EQ(code_of(run({"-m", "50ms"}, {"sleep", "1000"})), 124);
    EXPECT_NE(last_->err().find("50 ms"), std::string::npos) << last_->err();
}

TEST_F(Exit, MaxHoldIsNotReportedAsALoss) {
    const std::string slow = "trap 'sleep 0.6; exit 0' TERM; sleep 9 & wait";
    EXPECT_EQ(code_of(run_shell({"-m", "50ms", "-t", "2s", "-k", "1s"}, slow)), 124);
    EXPECT_EQ(last_->err().find("losing"), std::string::npos) << last_->err();
}

// With such a /proc, process ids would name processes of another namespace.
TEST_F(Exit, CodeIs70IfProcBelongsToAnotherPidNamespace) {
    start_options options = run({}, {"true"});
    options.arguments.insert(options.arguments.begin(), {"/usr/bin/unshare", "-Urpf"});
    const auto code = code_of(options);
    if (last_->err().starts_with("unshare:")) GTEST_SKIP() << last_->err();
    EXPECT_EQ(code, 70) << last_->err();
    EXPECT_NE(last_->err().find("/proc"), std::string::npos) << last_->err();
}

TEST_F(Exit, CodeIs75IfAnEnclosingRunHoldsTheName) {
    const std::string inner = std::string{BATON_PROGRAM} + " run -l a -- echo inside";
    EXPECT_EQ(code_of(run_shell({}, inner)), 75);
    EXPECT_NE(last_->err().find("a run around this one already holds it"), std::string::npos) << last_->err();
    const std::string between = std::string{BATON_PROGRAM} + " run -l b -- ";
    EXPECT_EQ(code_of(run_shell({}, between + inner)), 75) << "two levels up";
    EXPECT_EQ(
        code_of(run_shell({}, between + "env BATON_URL=memory:other " + between + "env BATON_URL=memory: " + inner)),
        75)
        << "with a run at another address in between";
    EXPECT_EQ(code_of(run_shell({}, std::string{BATON_PROGRAM} + " run -s a -E 9 -- true")), 9) << "in any mode";
    EXPECT_EQ(code_of(run_shell({}, "BATON_URL=memory:other " + inner)), 0) << "another address has other names";
    EXPECT_EQ(last_->out(), "inside\n");
    EXPECT_EQ(code_of(run_shell({}, std::string{BATON_PROGRAM} + " run --space other -l a -- true")), 0);
}

TEST_F(Exit, CommandFindsItsNamesInTheEnvironment) {
    start_options options = baton({"run", "-l", "a b", "-p", "team/gpu:2/8", "-s", "c", "--", "env"});
    options.environment["BATON_FENCE"] = "outer";
    options.environment["BATON_ABANDONED"] = "outer";
    ASSERT_EQ(code_of(options), 0);
    const std::string& out = last_->out();
    EXPECT_NE(out.find("BATON_LOCKS=a b\nc\nteam/gpu\n"), std::string::npos) << out;
    EXPECT_NE(out.find("BATON_SLOTS=team/gpu=0,1\n"), std::string::npos) << out;
    EXPECT_NE(out.find("BATON_ABANDONED=\n"), std::string::npos) << out;
    const std::size_t waited = out.find("BATON_WAITED_MS=");
    ASSERT_NE(waited, std::string::npos) << out;
    EXPECT_LT(std::stoi(out.substr(waited + 16)), 5'000) << out;  // the queue was empty, but the machine may be busy
    EXPECT_NE(out.find("BATON_URL=memory:\n"), std::string::npos) << out;
    EXPECT_NE(out.find("BATON_SPACE=\n"), std::string::npos) << out;
    EXPECT_EQ(out.find("outer"), std::string::npos) << out;
    EXPECT_NE(out.find("BATON_FENCE="), std::string::npos) << out;
}

TEST_F(Exit, CommandGetsInputAndOutput) {
    start_options options = run({"-v"}, {"cat"});
    options.input = "through\n";
    EXPECT_EQ(code_of(options), 0);
    EXPECT_EQ(last_->out(), "through\n");
    EXPECT_NE(last_->err().find("baton: acquired a"), std::string::npos) << last_->err();
}

TEST_F(Exit, CommandGetsItsArgumentsUnchanged) {
    EXPECT_EQ(code_of(run({}, {"printf", "%s|", "", "-n", "--", "a b", "*", "$HOME"})), 0);
    EXPECT_EQ(last_->out(), "|-n|--|a b|*|$HOME|");
}

TEST_F(Exit, OptionCRunsAStringThroughTheShell) {
    EXPECT_EQ(code_of(baton({"run", "-l", "a", "-c", "echo $((6 * 7)); exit 3"})), 3);
    EXPECT_EQ(last_->out(), "42\n");
}

TEST_F(Exit, MessagesEscapeControlCharactersInNames) {
    for (const std::string& name : {std::string{"two words"}, std::string{"it's \"so\""}, std::string{"line\nbreak"},
                                    std::string{"\x1b[31mred\x07"}, std::string{"\xff\xfe"}, std::string(512, 'x')}) {
        EXPECT_EQ(code_of(baton({"run", "-v", "-l", name, "--", "/no/such/\x1b[31m"})), 127);
        for (const char c : last_->err())
            EXPECT_TRUE(c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f));
        EXPECT_EQ(code_of(baton({"run", "--json", "-l", name, "--", "true"})), 0);
        for (const char c : last_->err()) EXPECT_TRUE(c == '\n' || (c >= 0x20 && c < 0x7f)) << last_->err();
    }
}

TEST_F(Exit, ClosedStdinStaysClosedForTheCommand) {
    start_options options =
        run_shell({}, "if [ -e /proc/self/fd/0 ]; then echo open; else echo closed; fi; exec 3</dev/null");
    options.close_stdin = true;
    EXPECT_EQ(code_of(options), 0);
    EXPECT_EQ(last_->out(), "closed\n");
}

TEST_F(Exit, CommandInheritsNoDescriptorOfBaton) {
    start_options plain{.arguments = {"/bin/ls", "/proc/self/fd"}, .environment = environment(), .input = {}};
    EXPECT_EQ(code_of(plain), 0);
    const std::string without = last_->out();
    EXPECT_EQ(code_of(run({}, {"/bin/ls", "/proc/self/fd"})), 0);
    EXPECT_EQ(last_->out(), without);
}

TEST_F(Exit, CommandRunsIfMessagesCannotBeWritten) {
    start_options options = run_shell({"-v"}, "exit 7");
    options.err = "/dev/full";
    EXPECT_EQ(code_of(options), 7);
    // A pipe without a reader.
    start_options piped{
        .arguments = {"/bin/bash", "-c",
                      std::string{BATON_PROGRAM} + " run -v -l a -- sh -c 'exit 7' 2> >(exec true); exit $?"},
        .environment = environment(),
        .input = {}};
    EXPECT_EQ(code_of(piped), 7);
}

// The pipe has room for the first message and not for the second, which baton writes while the command runs.
TEST_F(Exit, CommandRunsIfTheReaderOfMessagesBlocks) {
    start_options options = run_shell({"-v", "-t", "300ms"}, "sleep 1; echo x > " + folder_.path("done") + "; exit 7");
    options.err = folder_.path("pipe");
    ASSERT_EQ(::mkfifo(options.err.c_str(), 0600), 0);
    const int reader = ::open(options.err.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    const int room = ::fcntl(reader, F_SETPIPE_SZ, 4096);
    const std::string filling(static_cast<std::size_t>(room) - 60, '.');
    ASSERT_EQ(::write(reader, filling.data(), filling.size()), room - 60);
    child baton{options};
    EXPECT_TRUE(eventually([&] { return contents(folder_.path("done")) == "x\n"; }));
    std::string message(static_cast<std::size_t>(room), '\0');
    EXPECT_GT(::read(reader, message.data(), message.size()), room - 60);
    EXPECT_EQ(baton.wait(), 7);
    ::close(reader);
}

TEST_F(Exit, CodeIs70IfTheOutputOfAVerbCannotBeWritten) {
    for (const std::vector<std::string>& words : {std::vector<std::string>{"ls", "--json"}, {"--help"}, {"ls", "a"}}) {
        start_options options = baton(words);
        options.out = "/dev/full";
        EXPECT_EQ(code_of(options), 70);
        EXPECT_NE(last_->err().find("cannot write to standard output"), std::string::npos) << last_->err();
    }
}

TEST_F(Exit, CommandGetsSigpipeAsWithoutBaton) {
    start_options piped{.arguments = {"/bin/bash", "-c",
                                      std::string{BATON_PROGRAM} + " run -l a -- yes | head -1; echo ${PIPESTATUS[0]}"},
                        .environment = environment(),
                        .input = {}};
    EXPECT_EQ(code_of(piped), 0);
    EXPECT_EQ(last_->out(), "y\n141\n") << last_->err();
}

TEST_F(Exit, CommandSubstitutionReturnsAtOnce) {
    start_options capture{
        .arguments = {"/bin/bash", "-c", "x=$(" + std::string{BATON_PROGRAM} + " run -l a -- echo hi); echo got-$x-"},
        .environment = environment(),
        .input = {}};
    EXPECT_EQ(code_of(capture), 0);
    EXPECT_EQ(last_->out(), "got-hi-\n");
}

TEST_F(Exit, RunWorksWithAnEmptyEnvironment) {
    start_options options = run({"-u", "memory:"}, {"/bin/echo", "hi"});
    options.environment.clear();
    EXPECT_EQ(code_of(options), 0) << last_->err();
    EXPECT_EQ(last_->out(), "hi\n");
    options.environment = {{"LANG", "C"}, {"BATON_URL", "memory:"}};
    EXPECT_EQ(code_of(options), 0) << last_->err();
}

TEST_F(Exit, IgnoredSignalsStayIgnored) {
    start_options options{.arguments = {"/bin/sh", "-c",
                                        "trap '' HUP; exec " + std::string{BATON_PROGRAM} +
                                            " run -l a -- sh -c 'kill -HUP $PPID $$; echo alive'"},
                          .environment = environment(),
                          .input = {}};
    EXPECT_EQ(code_of(options), 0);
    EXPECT_EQ(last_->out(), "alive\n");
}

// The kernel keeps no zombies for a process that ignores SIGCHLD, so baton would never learn the end of the command.
TEST_F(Exit, ExitCodeIsThatOfTheCommandIfSigchldIsIgnored) {
    start_options options = run({}, {"grep", "-q", "SigIgn:.*[13579bdf]....$", "/proc/self/status"});
    options.arguments.insert(options.arguments.begin(), {"/usr/bin/env", "--ignore-signal=CHLD"});
    EXPECT_EQ(code_of(options), 0) << last_->err();
}

}  // namespace
}  // namespace baton::testing
