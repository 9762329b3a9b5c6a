// A turn of redturn without a server: what it says, and what it makes of answers that are hard to bring about with one.
#include <gtest/gtest.h>

#include <deque>

#include "dialect.hpp"

namespace baton::dialects {
namespace {

using namespace std::chrono_literals;

class scripted_context final : public context {
public:
    void execute(std::vector<redis_command> commands, std::function<void(const replies&)> done) override {
        asked.push_back({std::move(commands), std::move(done)});
    }
    void watch(const std::string&, const queue_entry&) override {}
    void subscribe(const std::string&, const queue_entry&) override {}
    [[nodiscard]] bool can_watch() const override { return true; }
    [[nodiscard]] protocol::instant now() const override { return {}; }
    [[nodiscard]] server_time server_now() const override { return {}; }
    [[nodiscard]] std::string random_bytes() override { return std::string(16, '\x42'); }

    struct question {
        std::vector<redis_command> commands;
        std::function<void(const replies&)> done;
    };
    std::deque<question> asked;
};

resp::value text(const std::string& words) { return {resp::kind::bulk, 0, words, {}}; }
resp::value number(std::int64_t value) { return {resp::kind::number, value, {}, {}}; }
resp::value both(const resp::value& first, const resp::value& second) {
    return {resp::kind::array, 0, {}, {first, second}};
}
const resp::value time_answer = both(text("1"), text("0"));

// It was first and was refreshed; then the server forgot it. What it is added as is known here: else the notice that it
// is first would be taken for one to nobody, and it would remove itself.
TEST(RedturnTurn, WhatWasForgottenIsAddedUnderAnIdThatIsKnown) {
    scripted_context context;
    const auto dialect = make_redturn({});
    const auto protocol_client = dialect->make_protocol_client(context);
    const auto entry = protocol_client->make_entry({"a", claim_mode::exclusive, 0, 0}, {});
    const auto next_question = [&] {
        auto question = std::move(context.asked.front());
        context.asked.pop_front();
        return question;
    };
    std::vector<claim_status> heard;
    const auto hear = [&](const claim_result& result) { heard.push_back(result.status); };

    entry->poll(hear);
    next_question().done({text("other:channel:1000"), time_answer});  // added behind another
    entry->poll(hear);
    const auto find = next_question();
    const std::string refreshed = find.commands.front()[4];      // EVALSHA digest 1 key element
    find.done({both(text(refreshed), number(1)), time_answer});  // first by now, under another id
    entry->poll(hear);
    next_question().done({both(text(""), number(0)), time_answer});  // nothing is there any more
    const auto add = next_question();
    const std::string id = add.commands.front()[6];  // EVALSHA digest 1 key channel element id
    EXPECT_EQ(heard, (std::vector{claim_status::waiting, claim_status::held}));

    const resp::value notice{resp::kind::push, 0, {}, {text("message"), text("channel"), text(id + ":a")}};
    EXPECT_EQ(protocol_client->handle_push(notice), id);
    EXPECT_TRUE(context.asked.empty()) << "it removes itself";
}

// The time of a head begins for a waiter when it sees it. A holder that dies right after a refresh is removed one
// timeout and one look later, so looks are a small part of the holder's timeout apart, not of the waiter's.
TEST(RedturnTurn, LooksOftenEnoughForTheTimeoutOfTheHead) {
    scripted_context context;
    const auto dialect = make_redturn({{"timeout", "60s"}});
    const auto protocol_client = dialect->make_protocol_client(context);
    const auto entry = protocol_client->make_entry({"a", claim_mode::exclusive, 0, 0}, {});
    for (const auto& [head, longest] : {std::pair{"other:channel:1000", 125ms}, std::pair{"more:channel:400", 50ms},
                                        std::pair{"most:channel:60000", 1000ms}, std::pair{"least:channel:8", 10ms}}) {
        entry->poll([](const claim_result&) {});
        const auto question = std::move(context.asked.front());
        context.asked.pop_front();
        const bool added = question.commands.front().size() == 8;
        question.done({added ? text(head) : both(text(head), number(1)), time_answer});
        EXPECT_LE(entry->poll_delay(), longest) << head;
        EXPECT_GT(entry->poll_delay(), 0ms) << head;
    }
}

}  // namespace
}  // namespace baton::dialects
