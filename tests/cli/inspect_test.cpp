// The verbs ls, why, revoke, mend and resize, called in a process that also holds and waits for names.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "baton/baton.hpp"
#include "inspect/show.hpp"
#include "program.hpp"
#include "store_address.hpp"

namespace baton::cli {
namespace {

class Verbs : public ::testing::Test {
protected:
    struct result {
        int code = 0;
        std::string out;
        std::string err;
    };

    result baton(std::vector<std::string> words) const {
        words.insert(words.begin(), "baton");
        words.insert(words.end(), {"--url", address_});
        std::vector<char*> arguments;
        for (std::string& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        ::testing::internal::CaptureStdout();
        ::testing::internal::CaptureStderr();
        const int code = program(static_cast<int>(words.size()), arguments.data());
        return {code, ::testing::internal::GetCapturedStdout(), ::testing::internal::GetCapturedStderr()};
    }
    client other(const std::string& label) const { return client{address_, {.label = label}}; }
    /// Returns when the request is in the queue.
    void queue(client& client, const claims& claims) {
        client.async_acquire(claims, {}, stop_.get_token(), [](std::error_code, lease) {});
        static_cast<void>(client.inspect());
    }
    /// The program refuses `memory:`, but here it shares it with the test.
    void SetUp() override {
        store_maker_used() = [](std::string_view address, const detail::local_options&) {
            return ::baton::make_store(address);
        };
    }
    void TearDown() override { stop_.request_stop(); }

    std::string address_ = std::string{"memory:"} + ::testing::UnitTest::GetInstance()->current_test_info()->name();
    client first_ = other("job 1 on here · nightly");
    client second_ = other("job 2 on here");
    std::stop_source stop_;
};

TEST_F(Verbs, LsListsHoldersAndWaiters) {
    EXPECT_EQ(baton({"ls"}).out, "");
    const lease held = first_.acquire(exclusive("a"));
    const lease some = first_.acquire(permits("gpu", {.count = 2, .limit = 8}));
    queue(second_, shared("a"));
    const result all = baton({"ls"});
    EXPECT_EQ(all.code, 0);
    EXPECT_NE(all.out.find("a: held, 1 waiting\n  holds  exclusive, "), std::string::npos) << all.out;
    EXPECT_NE(all.out.find("fence " + std::to_string(held.fence()) + ": job 1 on here · nightly, alive "),
              std::string::npos)
        << all.out;
    EXPECT_NE(all.out.find("\n  waits 1  shared, "), std::string::npos) << all.out;
    EXPECT_NE(all.out.find("gpu: 2 of 8, 25 %\n  holds  2 of 8 permits, slots 0,1, "), std::string::npos) << all.out;
}

TEST_F(Verbs, LsFiltersNamesAndExitsWith1IfANameIsFree) {
    const lease held = first_.acquire(exclusive("team/a", "b"));
    EXPECT_EQ(baton({"ls", "b"}).code, 0);
    EXPECT_EQ(baton({"ls", "b"}).out.find("team/a"), std::string::npos);
    EXPECT_NE(baton({"ls", "--prefix", "team/"}).out.find("team/a: held"), std::string::npos);
    EXPECT_EQ(baton({"ls", "--prefix", "team/"}).out.find("b: held"), std::string::npos);
    const result free = baton({"ls", "nobody"});
    EXPECT_EQ(free.code, 1);
    EXPECT_EQ(free.out, "nobody: free\n");
    EXPECT_EQ(baton({"ls", "--prefix", "x", "b"}).code, 64);
    EXPECT_EQ(baton({"ls", "--json", "--dot"}).code, 64);
}

TEST_F(Verbs, LsEscapesControlCharacters) {
    client rude = other("\x1b[31mred\x07");
    const lease held = rude.acquire(exclusive("line\nbreak\x1b]0;title\x07", "\xff\xfe"));
    for (const char* form : {"", "--json", "--dot"}) {
        std::vector<std::string> words{"ls"};
        if (*form != '\0') words.emplace_back(form);
        const result seen = baton(words);
        EXPECT_NE(seen.out.find("red"), std::string::npos);
        for (const char c : seen.out)
            EXPECT_TRUE(c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f)) << form;
    }
}

TEST_F(Verbs, LsJsonShowsHoldersWaitersAndBlockers) {
    const lease held = first_.acquire(exclusive("a", "\xff"));
    queue(second_, exclusive("a"));
    const auto all = nlohmann::json::parse(baton({"ls", "--json"}).out);
    EXPECT_EQ(all["resources"][0]["name"], "a");
    EXPECT_EQ(all["resources"][1]["name_hex"], "ff");
    EXPECT_EQ(all["requests"][0]["fence"], held.fence());
    EXPECT_EQ(all["requests"][0]["label"], "job 1 on here · nightly");
    EXPECT_EQ(all["requests"][1]["position"], 1);
    EXPECT_EQ(all["requests"][1]["blockers"][0]["hard"], true);
}

/// As in the graph of seed 000, a name is handed off along the arrows.
TEST_F(Verbs, LsDotDrawsAnArrowFromEachHolderToTheNextWaiter) {
    client third = other("job \"3\"");
    const lease held = first_.acquire(exclusive("a", "b"));
    queue(second_, exclusive("a"));
    queue(third, exclusive("a", "b"));
    const snapshot seen = first_.inspect();
    const std::string dot = baton({"ls", "--dot"}).out;
    const auto vertex = [&](std::size_t i) { return "r" + std::to_string(seen.requests[i].ticket); };
    EXPECT_NE(dot.find(vertex(0) + " -> " + vertex(1) + " [label=\"a\"]"), std::string::npos) << dot;
    EXPECT_NE(dot.find(vertex(1) + " -> " + vertex(2) + " [label=\"a\"]"), std::string::npos) << dot;
    EXPECT_NE(dot.find(vertex(0) + " -> " + vertex(2) + " [label=\"b\"]"), std::string::npos) << dot;
    EXPECT_NE(dot.find("job \\\"3\\\""), std::string::npos) << dot;
}

/// first_ holds a and waits for b, which `root` holds: the tree starts at `root`.
TEST_F(Verbs, WhyStartsAtTheRequestThatBlocksTheOthers) {
    client root = other("root");
    const lease bottom = root.acquire(exclusive("b"));
    const lease held = first_.acquire(exclusive("a"));
    queue(first_, exclusive("b"));
    queue(second_, exclusive("a"));
    const result why = baton({"why", "a"});
    EXPECT_EQ(why.code, 0);
    EXPECT_NE(why.out.find("a is held by job 1 on here · nightly (exclusive, fence "), std::string::npos) << why.out;
    EXPECT_NE(why.out.find("1 request waits for it; next is job 2 on here, after "), std::string::npos) << why.out;
    const std::size_t one = why.out.find("\n\nroot: holds b for ");
    const std::size_t two = why.out.find("\n  job 1 on here · nightly waits for b: has waited for b ");
    const std::size_t three =
        why.out.find("\n    job 1 on here · nightly belongs to the same session, and continues after it: holds a for ");
    const std::size_t four = why.out.find("\n      job 2 on here waits for a: has waited for a ");
    EXPECT_TRUE(one < two && two < three && three < four && four != std::string::npos) << why.out;
    EXPECT_EQ(baton({"why", "nobody"}).code, 1);
    EXPECT_EQ(baton({"why", "nobody"}).out, "nobody is free.\n");
}

TEST_F(Verbs, WhyNamesCircles) {
    const lease one = first_.acquire(exclusive("a"));
    const lease two = second_.acquire(exclusive("b"));
    queue(first_, exclusive("b"));
    queue(second_, exclusive("a"));
    const result why = baton({"why", "a"});
    EXPECT_NE(why.out.find("A circle of sessions that wait for each other:"), std::string::npos) << why.out;
    EXPECT_NE(why.out.find("see above"), std::string::npos) << why.out;
    EXPECT_NE(baton({"ls"}).out.find("circle: "), std::string::npos);
}

TEST_F(Verbs, RevokeRequiresTheFenceOfTheHolder) {
    const lease held = first_.acquire(exclusive("a"));
    const result wrong = baton({"revoke", "a", "--fence", "7"});
    EXPECT_EQ(wrong.code, 1);
    EXPECT_NE(wrong.err.find("it is held under " + std::to_string(held.fence())), std::string::npos) << wrong.err;
    EXPECT_FALSE(held.lost().stop_requested());
    const result asked = baton({"revoke", "a", "--fence", std::to_string(held.fence()), "--note", "please"});
    EXPECT_EQ(asked.code, 0) << asked.err;
    EXPECT_NE(asked.out.find("Asked job 1 on here · nightly to release a."), std::string::npos) << asked.out;
    EXPECT_NE(asked.out.find("not killed"), std::string::npos) << asked.out;
    EXPECT_NE(baton({"ls"}).out.find("revoked in "), std::string::npos);
    EXPECT_EQ(baton({"revoke", "a"}).code, 64);
}

TEST_F(Verbs, RevokeNowWarnsThatTheHolderMayStillWork) {
    const lease held = first_.acquire(exclusive("a"));
    const result taken = baton({"revoke", "a", "--now", "--fence", std::to_string(held.fence())});
    EXPECT_NE(taken.out.find("may still be at work"), std::string::npos) << taken.out;
    const result seen = baton({"ls", "a"});
    EXPECT_EQ(seen.code, 1) << "free";
    EXPECT_NE(seen.out.find("abandoned by job 1 on here"), std::string::npos) << seen.out;
}

TEST_F(Verbs, MendRemovesTheMark) {
    first_.acquire(exclusive("a")).abandon();
    EXPECT_NE(baton({"why", "a"}).out.find("a is free. It is marked as abandoned: its holder job 1 on here"),
              std::string::npos);
    EXPECT_EQ(baton({"mend", "a"}).code, 0);
    const result again = baton({"mend", "a"});
    EXPECT_EQ(again.code, 1);
    EXPECT_NE(again.err.find("not marked"), std::string::npos) << again.err;
}

TEST_F(Verbs, ResizePinsAndUnpinsALimit) {
    EXPECT_EQ(baton({"resize", "gpu", "1"}).code, 0);
    const lease held = first_.acquire(permits("gpu", {.count = 1, .limit = 8}));
    EXPECT_NE(baton({"ls"}).out.find("gpu: 1 of 1, 100 %, limit pinned to 1"), std::string::npos) << baton({"ls"}).out;
    EXPECT_FALSE(second_.try_acquire(permits("gpu", {.count = 1, .limit = 8})));
    EXPECT_EQ(baton({"resize", "gpu", "auto"}).code, 0);
    EXPECT_TRUE(second_.try_acquire(permits("gpu", {.count = 1, .limit = 8})));
    for (const char* wrong : {"0", "-1", "many", "65537", "1x"})
        EXPECT_EQ(baton({"resize", "gpu", wrong}).code, 64) << wrong;
}

TEST_F(Verbs, LsShowsAPinnedLimitOfAFreeName) {
    EXPECT_EQ(baton({"resize", "gpu", "4"}).code, 0);
    EXPECT_EQ(baton({"ls"}).out, "gpu: free, limit pinned to 4\n");
    const result one = baton({"ls", "gpu"});
    EXPECT_EQ(one.out, "gpu: free, limit pinned to 4\n");
    EXPECT_EQ(one.code, 1);
}

/// With invisible characters, two different names would look the same.
TEST_F(Verbs, LsEscapesInvisibleCharacters) {
    const std::vector<std::string> invisible{
        "\u00ad", "\u061c", "\u115f", "\u180e", "\u200b", "\u200c",     "\u200d",     "\u200e",    "\u200f",
        "\u2028", "\u2029", "\u202a", "\u202e", "\u2060", "\u2061",     "\u2064",     "\u2066",    "\u2069",
        "\u206f", "\u3164", "\ufe0f", "\ufeff", "\ufffb", "\U000e0001", "\U000e007f", "\U000e0100"};
    for (const std::string& each : invisible) {
        const lease held = first_.acquire(exclusive("pay" + each + "roll"));
        const std::string out = baton({"ls"}).out;
        EXPECT_EQ(out.find(each), std::string::npos) << out;
        EXPECT_NE(out.find("pay\\x"), std::string::npos) << out;
    }
    const lease plain = first_.acquire(exclusive("\u00e4\u4e2d\U0001f512"));
    EXPECT_NE(baton({"ls"}).out.find("\u00e4\u4e2d\U0001f512: held"), std::string::npos) << baton({"ls"}).out;
}

TEST_F(Verbs, HelpOfEveryVerbHasExamples) {
    for (const char* verb : {"run", "ls", "why", "revoke", "mend", "resize"}) {
        const result help = baton({verb, "--help"});
        EXPECT_EQ(help.code, 0);
        EXPECT_NE(help.out.find(std::string{"Examples:\n  baton "}), std::string::npos) << help.out;
        EXPECT_EQ(help.err, "");
    }
}

}  // namespace
}  // namespace baton::cli
