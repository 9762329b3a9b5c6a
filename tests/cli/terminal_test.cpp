// Job control on a pseudo-terminal, as in a user's shell.
#include <signal.h>

#include "baton.hpp"

namespace baton::testing {
namespace {

using Terminal = Cli;

TEST_F(Terminal, InterruptEndsTheCommandAndTheShellContinues) {
    child bash{interactive_shell()};
    ASSERT_TRUE(bash.says("ready> "));
    send(bash, "$BATON run -l a -- sh -c 'echo be''gun; exec sleep 1000'");
    ASSERT_TRUE(bash.says("begun")) << bash.out();
    bash.forget();
    bash.type("\x03");
    ASSERT_TRUE(bash.says("ready> ")) << bash.out();
    send(bash, "echo code-$?-");
    EXPECT_TRUE(bash.says("code-130-")) << bash.out();
    leave(bash);
}

TEST_F(Terminal, InterruptEndsALoopOfTheShell) {
    child bash{interactive_shell()};
    ASSERT_TRUE(bash.says("ready> "));
    send(bash, "for i in 1 2 3; do $BATON run -l a -- sh -c 'echo turn-'$i'.; exec sleep 1000'; done");
    ASSERT_TRUE(bash.says("turn-1.")) << bash.out();
    bash.type("\x03");
    send(bash, "echo after-the''-loop");
    EXPECT_TRUE(bash.says("after-the-loop")) << bash.out();
    EXPECT_EQ(bash.out().find("turn-2."), std::string::npos) << bash.out();
    leave(bash);
}

TEST_F(Terminal, StopShowsThePromptAndFgContinuesBoth) {
    child bash{interactive_shell()};
    ASSERT_TRUE(bash.says("ready> "));
    send(bash, "$BATON run -l a -- sh -c 'echo be''gun; read line; echo got-$line-'");
    ASSERT_TRUE(bash.says("begun")) << bash.out();
    bash.forget();
    bash.type("\x1a");
    ASSERT_TRUE(bash.says("Stopped")) << bash.out();
    ASSERT_TRUE(bash.says("ready> ")) << bash.out();
    send(bash, "echo free''-prompt");
    ASSERT_TRUE(bash.says("free-prompt")) << bash.out();
    send(bash, "fg");
    ASSERT_TRUE(bash.says("read line")) << bash.out();
    bash.type("hello\n");
    ASSERT_TRUE(bash.says("got-hello-")) << bash.out();
    send(bash, "echo code-$?-");
    EXPECT_TRUE(bash.says("code-0-")) << bash.out();
    leave(bash);
}

TEST_F(Terminal, InteractiveShellRunsAsTheCommand) {
    child bash{interactive_shell()};
    ASSERT_TRUE(bash.says("ready> "));
    send(bash, "PS1='inner> ' $BATON run -l a -- bash --norc --noprofile -i");
    ASSERT_TRUE(bash.says("inner> ")) << bash.out();
    EXPECT_EQ(bash.out().find("no job control"), std::string::npos) << bash.out();
    send(bash, "sh -c 'echo in''side; exec sleep 1000'");
    ASSERT_TRUE(bash.says("inside")) << bash.out();
    bash.type("\x1a");
    ASSERT_TRUE(bash.says("Stopped")) << bash.out();
    send(bash, "fg");
    ASSERT_TRUE(bash.says("exec sleep")) << bash.out();
    bash.forget();
    bash.type("\x03");
    ASSERT_TRUE(bash.says("inner> ")) << bash.out();
    send(bash, "echo fence-${BATON_FENCE:+there}-");
    ASSERT_TRUE(bash.says("fence-there-")) << bash.out();
    send(bash, "exit 5");
    ASSERT_TRUE(bash.says("ready> ")) << bash.out();
    send(bash, "echo code-$?-");
    EXPECT_TRUE(bash.says("code-5-")) << bash.out();
    leave(bash);
}

TEST_F(Terminal, ViRunsAsTheCommand) {
    child bash{interactive_shell()};
    ASSERT_TRUE(bash.says("ready> "));
    send(bash, "$BATON run -l a -- vi " + folder_.path("text"));
    ASSERT_TRUE(bash.says("~")) << bash.out();
    bash.type("ihello\x1b:wq\n");
    ASSERT_TRUE(bash.says("ready> ")) << bash.out();
    EXPECT_EQ(contents(folder_.path("text")), "hello\n");
    leave(bash);
}

/// The pager belongs to the same job and must keep the terminal.
TEST_F(Terminal, PipelineKeepsTheTerminalForItsOtherProcess) {
    child bash{interactive_shell()};
    ASSERT_TRUE(bash.says("ready> "));
    send(bash, "$BATON run -l a -- echo piped | (cat; read -r line </dev/tty; echo pager-$line-)");
    ASSERT_TRUE(bash.says("piped\r\n")) << bash.out();
    bash.type("key\n");
    EXPECT_TRUE(bash.says("pager-key-")) << bash.out();
    leave(bash);
}

/// The command's stdin is not the terminal, but the command reads from the terminal and gets it then.
TEST_F(Terminal, CommandInAPipelineGetsTheTerminalWhenItUsesIt) {
    child bash{interactive_shell()};
    ASSERT_TRUE(bash.says("ready> "));
    send(bash, "echo x | $BATON run -l a -- bash -c 'read -r line </dev/tty; echo asked-$line-'");
    ASSERT_TRUE(bash.says("-'\r\n")) << bash.out();
    bash.type("key\n");
    EXPECT_TRUE(bash.says("asked-key-")) << bash.out();
    leave(bash);
}

TEST_F(Terminal, BackgroundJobStopsForInputAndFgContinuesIt) {
    child bash{interactive_shell()};
    ASSERT_TRUE(bash.says("ready> "));
    send(bash, "$BATON run -l a -- bash -c 'read -r line; echo late-$line-' &");
    ASSERT_TRUE(bash.says("ready> ")) << bash.out();
    ASSERT_TRUE(eventually([&] {
        send(bash, "jobs");
        return bash.says("Stopped", milliseconds{200});
    })) << bash.out();
    send(bash, "fg");
    ASSERT_TRUE(bash.says("read -r")) << bash.out();
    bash.type("word\n");
    EXPECT_TRUE(bash.says("late-word-")) << bash.out();
    leave(bash);
}

/// ^C ends both the script and the command.
TEST_F(Terminal, InterruptEndsAScript) {
    child bash{interactive_shell()};
    ASSERT_TRUE(bash.says("ready> "));
    send(bash, "sh -c '$BATON run -l a -- sh -c \"echo be\"gun\"; exec sleep 1000\"; echo script-went-on'");
    ASSERT_TRUE(bash.says("begun")) << bash.out();
    bash.forget();
    bash.type("\x03");
    ASSERT_TRUE(bash.says("ready> ")) << bash.out();
    EXPECT_EQ(bash.out().find("script-went-on"), std::string::npos) << bash.out();
    leave(bash);
}

/// The same if the command has the terminal, so that only the command receives ^C.
TEST_F(Terminal, InterruptEndsAScriptWhoseCommandHasTheTerminal) {
    child bash{interactive_shell()};
    ASSERT_TRUE(bash.says("ready> "));
    send(bash,
         "bash -c '$BATON run -l a -- sh -c \"read one; echo be\"gun\"; exec sleep 1000\";"
         " echo script-we''nt-on'");
    bash.type("one\n");
    ASSERT_TRUE(bash.says("begun")) << bash.out();
    bash.forget();
    bash.type("\x03");
    ASSERT_TRUE(bash.says("ready> ")) << bash.out();
    EXPECT_EQ(bash.out().find("script-went-on"), std::string::npos) << bash.out();
    leave(bash);
}

/// If a script's command has the terminal, ^Z stops the command's group only; baton then stops the script too.
TEST_F(Terminal, StopAlsoStopsAScript) {
    child bash{interactive_shell()};
    ASSERT_TRUE(bash.says("ready> "));
    send(bash,
         "sh -c '$BATON run -l a -- sh -c \"read one; echo be\"gun\"; read two; echo got-\\$two-\";"
         " echo o''ver'");
    bash.type("one\n");
    ASSERT_TRUE(bash.says("begun")) << bash.out();
    bash.type("\x1a");
    ASSERT_TRUE(bash.says("Stopped")) << bash.out();
    ASSERT_TRUE(bash.says("ready> ")) << bash.out();
    send(bash, "fg");
    ASSERT_TRUE(bash.says("read two")) << bash.out();
    bash.type("two\n");
    EXPECT_TRUE(bash.says("got-two-")) << bash.out();
    EXPECT_TRUE(bash.says("over")) << bash.out();
    leave(bash);
}

/// The shell has the terminal. If baton took it away, the shell would read the end of its input and exit.
TEST_F(Terminal, MissingCommandDoesNotTakeTheTerminal) {
    child bash{interactive_shell()};
    ASSERT_TRUE(bash.says("ready> "));
    send(bash, "$BATON run -l a -- no-such-command &");
    ASSERT_TRUE(bash.says("No such file")) << bash.out();
    ASSERT_TRUE(eventually([&] {
        send(bash, "jobs");
        return bash.says("Exit 127", milliseconds{200});
    })) << bash.out();
    EXPECT_FALSE(bash.wait(milliseconds{200})) << bash.out();
    leave(bash);
}

/// Without a shell that could continue the job, ^Z has no effect.
TEST_F(Terminal, StopHasNoEffectWithoutAShell) {
    start_options options = run_shell({}, "echo begun; read line; echo got-$line-");
    options.on_terminal = true;
    child baton{options};
    ASSERT_TRUE(baton.says("begun"));
    baton.type("\x1a");
    baton.type("on\n");
    EXPECT_TRUE(baton.says("got-on-")) << baton.out();
    EXPECT_EQ(baton.wait(), 0);
}

}  // namespace
}  // namespace baton::testing
