// A queue entry of redturn without a server: its commands, and its reaction to replies that a server rarely gives.
#include <gtest/gtest.h>

#include <deque>

#include "dialect.hpp"

namespace baton::dialects {
namespace {

using namespace std::chrono_literals;

class scripted_context final : public context {
public:
    void execute(std::vector<redis_command> commands, std::function<void(const replies&)> done) override {
        calls.push_back({std::move(commands), std::move(done)});
    }
    void watch(const std::string&, const queue_entry&) override {}
    void subscribe(const std::string&, const queue_entry&) override {}
    [[nodiscard]] bool can_watch() const override { return true; }
    [[nodiscard]] protocol::instant now() const override { return {}; }
    [[nodiscard]] server_time server_now() const override { return {}; }
    [[nodiscard]] std::string random_bytes() override { return std::string(16, '\x42'); }

    struct call {
        std::vector<redis_command> commands;
        std::function<void(const replies&)> done;
    };
    std::deque<call> calls;
};

resp::value text(const std::string& words) { return {resp::kind::bulk, 0, words, {}}; }
resp::value number(std::int64_t value) { return {resp::kind::number, value, {}, {}}; }
resp::value both(const resp::value& first, const resp::value& second) {
    return {resp::kind::array, 0, {}, {first, second}};
}
const resp::value time_answer = both(text("1"), text("0"));

// The element was first and was refreshed; then the server lost it. The client knows the id under which it adds the
// element again. Otherwise it would take the notification of its grant for one of an unknown id, and remove the
// element.
TEST(RedturnEntry, AForgottenElementIsAddedUnderAKnownId) {
    scripted_context context;
    const auto dialect = make_redturn({});
    const auto protocol_client = dialect->make_protocol_client(context);
    const auto entry = protocol_client->make_entry({"a", claim_mode::exclusive, 0, 0}, {});
    const auto next_call = [&] {
        auto call = std::move(context.calls.front());
        context.calls.pop_front();
        return call;
    };
    std::vector<claim_status> received;
    const auto receive = [&](const claim_result& result) { received.push_back(result.status); };

    entry->poll(receive);
    next_call().done({text("other:channel:1000"), time_answer});  // added behind another
    entry->poll(receive);
    const auto find = next_call();
    const std::string refreshed = find.commands.front()[4];      // EVALSHA digest 1 key element
    find.done({both(text(refreshed), number(1)), time_answer});  // now first, under another id
    entry->poll(receive);
    next_call().done({both(text(""), number(0)), time_answer});  // the list is empty
    const auto add = next_call();
    const std::string id = add.commands.front()[6];  // EVALSHA digest 1 key channel element id
    EXPECT_EQ(received, (std::vector{claim_status::waiting, claim_status::held}));

    const resp::value notice{resp::kind::push, 0, {}, {text("message"), text("channel"), text(id + ":a")}};
    EXPECT_EQ(protocol_client->handle_push(notice), id);
    EXPECT_TRUE(context.calls.empty()) << "the client removes no element";
}

// The timeout of a head begins for a waiter when it reads the head. A holder that dies right after a refresh is removed
// one timeout and one poll interval later, so the interval is a small part of the holder's timeout, and not of the
// waiter's.
TEST(RedturnEntry, PollsOftenEnoughForTheTimeoutOfTheHead) {
    scripted_context context;
    const auto dialect = make_redturn({{"timeout", "60s"}});
    const auto protocol_client = dialect->make_protocol_client(context);
    const auto entry = protocol_client->make_entry({"a", claim_mode::exclusive, 0, 0}, {});
    for (const auto& [head, longest] : {std::pair{"other:channel:1000", 125ms}, std::pair{"more:channel:400", 50ms},
                                        std::pair{"most:channel:60000", 1000ms}, std::pair{"least:channel:8", 10ms}}) {
        entry->poll([](const claim_result&) {});
        const auto call = std::move(context.calls.front());
        context.calls.pop_front();
        const bool added = call.commands.front().size() == 8;
        call.done({added ? text(head) : both(text(head), number(1)), time_answer});
        EXPECT_LE(entry->poll_delay(), longest) << head;
        EXPECT_GT(entry->poll_delay(), 0ms) << head;
    }
}

}  // namespace
}  // namespace baton::dialects
