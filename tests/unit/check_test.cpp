// `check` finds every violation of an invariant. The engine itself never causes one, so these tests change its private
// records.
#include "engine/check.hpp"

#include <functional>

#include "world.hpp"

namespace baton::core::test {
namespace {

// An explicit instantiation may name private members, so the engine needs no friend for these tests.
template <typename Tag, typename Tag::type Member> struct key {
    friend typename Tag::type member(Tag) { return Member; }
};
struct sessions {
    using type = std::pmr::unordered_map<session_id, session_record> engine::*;
    friend type member(sessions);
};
struct deadlines {
    using type = std::pmr::set<due> engine::*;
    friend type member(deadlines);
};
struct hold_deadlines {
    using type = std::pmr::set<due> engine::*;
    friend type member(hold_deadlines);
};
struct owed {
    using type = std::pmr::set<claim_record*, older_first> engine::*;
    friend type member(owed);
};
struct completed {
    using type = std::vector<request_record*> engine::*;
    friend type member(completed);
};
struct narrowed {
    using type = std::pmr::map<std::uint64_t, resource_record*> engine::*;
    friend type member(narrowed);
};
struct last_serial {
    using type = serial engine::*;
    friend type member(last_serial);
};
template struct key<sessions, &engine::sessions_>;
template struct key<deadlines, &engine::deadlines_>;
template struct key<hold_deadlines, &engine::hold_deadlines_>;
template struct key<owed, &engine::owed_>;
template struct key<completed, &engine::completed_>;
template struct key<narrowed, &engine::narrowed_>;
template struct key<last_serial, &engine::last_serial_>;

class Check : public world {
protected:
    // A holds x shared; B and C hold one permit each of s; D holds y exclusively; W waits for s and y, as the first,
    // and z is reserved for it; V waits for y and R for x.
    Check() { begin(); }

    void begin() {
        begin_again();
        enter("A", {shared("x")}, hold_limit(5s));
        enter("B", {permits("s", 1, 3)});
        enter("C", {permits("s", 1, 3)});
        enter("D", {exclusive("y")});
        enter("W", {permits("s", 2, 3), exclusive("y"), permits("z", 2, 4)});
        enter("V", {exclusive("y")});
        enter("R", {exclusive("x")});
    }

    template <typename Tag> auto& of(Tag tag) { return engine().*member(tag); }
    session_record& session_of(const std::string& name) { return of(sessions{}).at(session(name)); }
    request_record& request(const std::string& name) {
        return session_of(name.substr(0, name.find('.'))).requests.at(id(name).number);
    }
    claim_record& claim_of(const std::string& name, std::size_t index = 0) { return request(name).claims()[index]; }
    resource_record& on(const std::string& name, std::size_t index = 0) { return *claim_of(name, index).resource; }

    void recount(const std::string& session) {
        std::uint64_t digest = 0;
        for (const auto& [number, request] : session_of(session).requests) digest += request.digest();
        session_of(session).digest = digest;
    }

    // Corrupts the state above and expects this text in the violation that `check` returns.
    void expect_seen(const std::string& what, const std::function<void()>& breaking) {
        SCOPED_TRACE(what);
        ASSERT_EQ(check(engine()), std::nullopt);
        breaking();
        const auto violation = check(engine());
        ASSERT_TRUE(violation) << "`check` found no violation";
        EXPECT_NE(violation->find(what), std::string::npos) << "`check` returned: " << *violation;
        begin();
    }
};

TEST_F(Check, FindsNoViolationInAValidState) {
    EXPECT_EQ(check(engine()), std::nullopt);
    EXPECT_EQ(queue("s") + ", " + queue("y") + ", " + queue("z"), "W, W V, W(reserved)");
}

TEST_F(Check, FindsInvalidSessions) {
    expect_seen("outlived its deadline", [&] {
        of(deadlines{}).clear();
        for (auto& [id, session] : of(sessions{})) session.deadline = now;
    });
    expect_seen("has no entry among the deadlines", [&] { session_of("A").deadline += 1us; });
    expect_seen("deadline of something that ended", [&] { of(deadlines{}).insert({now + 1s, &session_of("A"), 7}); });
    expect_seen("hold limit of something that ended", [&] {
        of(hold_deadlines{}).insert({now + 1s, &session_of("A"), 7, end_reason::hold_limit});
    });
    expect_seen("hold limit of something that ended", [&] { of(hold_deadlines{}).clear(); });
    expect_seen("lost its session", [&] { request("A").session = &session_of("B"); });
    expect_seen("lost its session", [&] { request("A").number = 2; });
    expect_seen("number that its session has not seen", [&] { session_of("A").highest = 0; });
    expect_seen("digest is not that of its requests", [&] { ++session_of("A").digest; });
    expect_seen("too many events for its next renewal", [&] {
        session_of("A").missed.resize(bounds::repeated + 1, ended{id("A"), end_reason::revoked, 0});
    });
}

TEST_F(Check, FindsASessionAtItsDeadlineAndNoneBeforeIt) {
    const instant deadline = session_of("A").deadline;
    EXPECT_EQ(deadline, now + 10s);
    advance(5s - 1us);
    EXPECT_EQ(check(engine()), std::nullopt);
    of(deadlines{}).erase({deadline, &session_of("A")});
    session_of("A").deadline = now;
    EXPECT_EQ(check(engine()), "a session outlived its deadline");
}

TEST_F(Check, FindsInvalidRequests) {
    expect_seen("has a claim of another request", [&] { claim_of("W").request = &request("V"); });
    expect_seen("is missing on its resource", [&] { on("V").waiting.erase(ticket("V")); });
    expect_seen("is missing on its resource", [&] { on("D").admitted.at(ticket("D")) = &claim_of("V"); });
    expect_seen("miscounts its claims", [&] { request("W").unadmitted = 1; });
    expect_seen("or has all and is not granted", [&] { request("A").fence = 0; });
    expect_seen("is granted without all its claims", [&] { request("W").fence = ticket("W") + 1; });
    expect_seen("is ahead of the counter", [&] { of(last_serial{}) = ticket("R") - 1; });
    expect_seen("fence outside", [&] { request("A").fence = request("A").ticket; });
    expect_seen("fence outside", [&] { request("A").fence = of(last_serial{}) + 1; });
    expect_seen("shares its fence", [&] { request("A").fence = request("B").fence; });
    expect_seen("shares its", [&] { request("A").fence = request("B").ticket; });
    expect_seen("shares its ticket", [&] {
        for (auto* claims : {&on("B").admitted}) {
            claims->erase(ticket("B"));
            claims->emplace(ticket("A"), &claim_of("B"));
        }
        request("B").ticket = ticket("A");
    });
    expect_seen("complete and not granted", [&] { of(completed{}).push_back(&request("W")); });
    expect_seen("without its request, or twice", [&] { on("V").waiting.emplace(ticket("V") + 1, &claim_of("V")); });
}

TEST_F(Check, FindsInvalidResources) {
    expect_seen("stored under another name", [&] { on("A").name = "another"; });
    expect_seen("is kept although it is idle", [&] {
        resource_record& x = on("A");
        x.admitted.clear();
        x.waiting.clear();
        x.modes = {};
        of(hold_deadlines{}).clear();
        session_of("A").requests.clear();
        session_of("R").requests.clear();
    });
    expect_seen("do not fit together", [&] { claim_of("B").mode = claim_mode::shared; });
    expect_seen("wrong tallies", [&] { ++on("A").modes[0]; });
    expect_seen("wrong tallies", [&] { ++on("B").used; });
    expect_seen("wrong tallies", [&] { on("W", 2).reserved = 0; });
    expect_seen("first waiter that fits and is not admitted", [&] {
        claim_of("R").mode = claim_mode::shared;  // it would fit beside A
    });
    expect_seen("owed to a claim that is not its first waiter", [&] { on("V").owed = &claim_of("V"); });
    expect_seen("list of owed claims", [&] { on("V").owed = &claim_of("W", 1); });
    expect_seen("list of owed claims", [&] { of(owed{}).insert(&claim_of("W", 1)); });
    expect_seen("owed without a reason", [&] {
        on("V").owed = &claim_of("W", 1);
        of(owed{}).insert(&claim_of("W", 1));
    });
}

TEST_F(Check, FindsAClaimAdmittedBeforeAnOlderOneUnlessAReclaimReorderedThem) {  // rule 2, rule 11
    resource_record& y = on("D");
    y.admitted = {{ticket("V"), &claim_of("V")}};
    y.waiting = {{ticket("W"), &claim_of("W", 1)}, {ticket("D"), &claim_of("D")}};
    claim_of("V").admitted = true;
    claim_of("D").admitted = false;
    request("D").fence = 0;
    request("D").unadmitted = 1;
    request("V").fence = ++of(last_serial{});
    request("V").unadmitted = 0;
    recount("D");
    recount("V");
    EXPECT_EQ(check(engine()), "y has admitted a claim before an older one");
    request("V").reordered = true;
    EXPECT_EQ(check(engine()), std::nullopt) << "V was reclaimed";
    request("V").reordered = false;
    request("D").reordered = request("W").reordered = true;
    EXPECT_EQ(check(engine()), std::nullopt) << "the older requests were reclaimed";
    request("W").reordered = false;
    EXPECT_EQ(check(engine()), "y has admitted a claim before an older one") << "W came before V and was not reclaimed";
}

TEST_F(Check, FindsARequestThatWaitsForAYoungerWaiter) {  // rule 1, rule 11
    enter("X", {exclusive("z")});                         // behind W
    ASSERT_EQ(check(engine()), std::nullopt);
    request("X").ticket = ticket("A") - 1;
    request("X").reordered = true;
    on("X").waiting = {{ticket("A") - 1, &claim_of("X")}};
    EXPECT_EQ(check(engine()), "z is reserved for a younger request that waits itself");
}

TEST_F(Check, FindsInvalidPermitsAndSlots) {
    expect_seen("admitted more than its limit", [&] { claim_of("C").limit_then = 1; });
    expect_seen("slot above its limit", [&] {
        on("B").slots.give_back(claim_of("B").slots);
        claim_of("B").slots = {3};
        on("B").slots.take(3);
    });
    expect_seen("wrong number of slots", [&] { claim_of("C").slots.clear(); });
    expect_seen("slot twice", [&] { claim_of("C").slots = claim_of("B").slots; });
    expect_seen("counts a slot in use as free", [&] { on("B").slots.give_back(claim_of("C").slots); });
    expect_seen("leaked a slot", [&] { on("B").slots.take(2); });
    expect_seen("slots to a waiter", [&] { claim_of("W").slots = {2}; });
    expect_seen("lost a wide waiter", [&] { on("B").wide.clear(); });
    expect_seen("wide waiter that is gone", [&] { on("B").wide.emplace(2, ticket("B")); });
    expect_seen("can never fit", [&] { on("B").pinned = 1; });
    expect_seen("listed as narrowed and is not", [&] { on("B").narrowed = 1; });
    expect_seen("missing among the narrowed", [&] {
        on("B").pinned = 1;
        on("B").narrowed = 1;
    });
    expect_seen("list of narrowed resources", [&] { of(narrowed{}).emplace(1, &on("B")); });
    expect_seen("can never fit have not ended", [&] {
        on("B").pinned = 1;
        on("B").narrowed = 1;
        of(narrowed{}).emplace(1, &on("B"));
    });
}

TEST_F(Check, AcceptsTheLastPermitAndTheLastSlotBelowTheLimit) {  // rule 10
    claim_of("C").limit_then = 2;
    EXPECT_EQ(check(engine()), std::nullopt);
    on("C").slots.give_back(claim_of("C").slots);
    claim_of("C").slots = {2};
    on("C").slots.take(2);
    EXPECT_EQ(check(engine()), "s gave a slot above its limit");
    claim_of("C").limit_then = 3;
    EXPECT_EQ(check(engine()), std::nullopt);
}

}  // namespace
}  // namespace baton::core::test
