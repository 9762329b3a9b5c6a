// A store refuses malformed requests and reports unsupported commands, without other effects.
#include "bench.hpp"
#include "case.hpp"
#include "raw_connection.hpp"

namespace baton::contract {
namespace {

void malformed_requests_are_refused(bench& bench) {
    actor a = bench.join();
    const auto result = [&](const claims& claims, const acquire_options& options = {}) {
        std::error_code error;
        static_cast<void>(a.client.acquire(claims, options, error));
        return error;
    };
    EXPECT_EQ(result(claims{{}}), errc::no_claims);
    EXPECT_EQ(result(exclusive("")), errc::name_empty);
    EXPECT_EQ(result(exclusive(std::string(513, 'n'))), errc::name_too_long);
    if (bench.can().several_names) {
        EXPECT_EQ(result(exclusive("twice", "twice")), errc::duplicate_resource);
        EXPECT_EQ(result(claims{std::vector<claim>(1'001, {"x", claim_mode::exclusive, 0, 0})}), errc::too_many_claims);
    }
    if (bench.can().permits) {
        EXPECT_EQ(result(permits("gpu", {.count = 0, .limit = 8})), errc::permits_out_of_range);
        EXPECT_EQ(result(permits("gpu", {.count = 9, .limit = 8})), errc::permits_out_of_range);
    }
    if (bench.can().hold_limit) {
        EXPECT_EQ(result(exclusive("x"), {.max_hold = 0ms}), errc::hold_limit_out_of_range);
    }
    bench.expect_free(exclusive("x"));
}

void a_ttl_out_of_range_is_refused(bench& bench) {
    client_options options;
    options.ttl = 99ms;
    client hasty{bench.handle(), options};
    std::error_code error;
    static_cast<void>(hasty.acquire(exclusive("ledger"), {.wait = timeout()}, error));
    EXPECT_EQ(error, errc::ttl_out_of_range);
}

void unsupported_commands_are_refused(bench& bench) {
    const capabilities& can = bench.can();
    raw_connection connection{bench.handle()};
    const protocol::session_id session = connection.open();
    std::vector<std::pair<const char*, protocol::command>> commands;
    const auto enter = [&](const claims& claims, const protocol::enter_options& options = {}) {
        return protocol::enter{connection.next(session), claims.list(), options};
    };
    if (!can.shared) commands.emplace_back("shared", enter(shared("x")));
    if (!can.permits) commands.emplace_back("permits", enter(permits("x", {.count = 1, .limit = 2})));
    if (can.permits && !can.several_permits)
        commands.emplace_back("several permits", enter(permits("x", {.count = 2, .limit = 2})));
    if (!can.several_names) commands.emplace_back("several names", enter(exclusive("x", "y")));
    if (!can.hold_limit) commands.emplace_back("hold limit", enter(exclusive("x"), {.hold_limit = 1s}));
    if (!can.nowait) commands.emplace_back("nowait", enter(exclusive("x"), {.nowait = true}));
    if (!can.queue_bound) commands.emplace_back("queue bound", enter(exclusive("x"), {.queue_bound = 1}));
    if (!can.revoke) commands.emplace_back("revoke", protocol::revoke{"x", 1, {}, false});
    if (!can.abandoned_marks) commands.emplace_back("mend", protocol::mend{"x"});
    if (!can.resize) commands.emplace_back("resize", protocol::resize{"x", 1});
    if (!can.pause) commands.emplace_back("pause", protocol::pause{protocol::instant{}});
    if (!can.inspect) {
        actor a = bench.join();
        EXPECT_TRUE(a.acquire(exclusive("z")).valid());  // the connection is up
        try {
            static_cast<void>(a.client.inspect());
            ADD_FAILURE() << "inspect got a reply";
        } catch (const error& no) {
            EXPECT_EQ(no.code(), errc::unsupported) << "inspect";
        }
    } else if (commands.empty()) {
        GTEST_SKIP() << "everything is supported";
    }
    for (const auto& [what, command] : commands) EXPECT_EQ(connection.call(command).error, errc::unsupported) << what;
    bench.expect_free(exclusive("x"));
    bench.expect_free(exclusive("y"));
}

}  // namespace

cases refusal_cases() {
    constexpr auto topic = "Refusal";
    return {
        {topic, "MalformedRequestsAreRefused", {}, malformed_requests_are_refused},
        {topic, "ATtlOutOfRangeIsRefused", {&capabilities::chosen_ttl}, a_ttl_out_of_range_is_refused},
        {topic, "UnsupportedCommandsAreRefused", {}, unsupported_commands_are_refused},
    };
}

}  // namespace baton::contract
