// Every refusal, with the values just inside and just outside of the allowed range, and the order of the checks. A
// refused command changes nothing but the highest number (rule 9).
#include <set>

#include "world.hpp"

namespace baton::core::test {
namespace {

const std::string longest_name(512, 'n');

class Refusals : public world {
protected:
    // A holds x, B waits for it, y is abandoned.
    Refusals() {
        enter("A", {exclusive("y")});
        leave("A", release_kind::unclean);
        enter("A.2", {exclusive("x")});
        enter("B", {exclusive("x")});
        open("C");
        now += 1s;
    }

    void expect_refused(const command& command, const std::string& words) {
        const std::string before = state();
        EXPECT_EQ(apply(command), "refused" + words);
        EXPECT_EQ(state(), before);
    }

    // A request of session C.
    core::enter asking(std::vector<claim> claims, std::uint64_t number = 1) {
        return {{session("C"), number}, std::move(claims), {}};
    }

    // An `open` in which session C presents a list. There is no pause, so a valid list restores nothing.
    core::open presenting(std::vector<live_request> live) { return open_command("C", std::move(live)); }
    static live_request grant(std::vector<claim> claims, std::vector<claim_slots> slots) {
        return {1, std::move(claims), 10, 20, std::move(slots), {}};
    }
};

TEST_F(Refusals, NumberOfARequest) {  // rule 8
    expect_refused(asking({exclusive("z")}, 0), " C.0: number out of range");
    expect_refused(asking({exclusive("z")}, bounds::number), " C.9007199254740992: number out of range");
    EXPECT_EQ(apply(asking({exclusive("z")}, 1)), "granted C");
    EXPECT_EQ(apply(asking({exclusive("w")}, bounds::number - 1)), "granted C.9007199254740991");
}

TEST_F(Refusals, NumberOfClaims) {
    std::vector<claim> claims;
    for (int i = 0; i < 1'000; ++i) claims.push_back(exclusive("n" + std::to_string(i)));
    expect_refused(asking({}), " C: no claims");
    claims.push_back(exclusive("one more"));
    expect_refused(asking(claims), " C: too many claims");
    claims.pop_back();
    EXPECT_EQ(apply(asking(claims)), "granted C");
}

TEST_F(Refusals, LengthOfAName) {
    expect_refused(asking({exclusive("")}), " C: name empty");
    expect_refused(asking({exclusive("z"), exclusive("")}), " C: name empty");
    expect_refused(asking({exclusive(longest_name + "n")}), " C: name too long");
    EXPECT_EQ(apply(asking({exclusive(longest_name), exclusive("z"), exclusive(std::string(1, '\0'))})), "granted C");
}

TEST_F(Refusals, Permits) {  // rule 10
    const std::string words = " C: permits out of range";
    expect_refused(asking({permits("z", 0, 1)}), words);
    expect_refused(asking({permits("z", 0, 0)}), words);
    expect_refused(asking({permits("z", 2, 1)}), words);
    expect_refused(asking({permits("z", 1, 65'537)}), words);
    expect_refused(asking({{"z", claim_mode::exclusive, 1, 0}}), words);
    expect_refused(asking({{"z", claim_mode::exclusive, 0, 1}}), words);
    expect_refused(asking({{"z", claim_mode::shared, 1, 0}}), words);
    expect_refused(asking({{"z", claim_mode::shared, 0, 1}}), words);
    EXPECT_EQ(apply(asking({permits("z", 1, 1)}, 1)), "granted C (z 0)");
    EXPECT_EQ(apply(asking({permits("w", 1, 65'536)}, 2)), "granted C.2 (w 0)");
    EXPECT_EQ(apply(asking({permits("v", 3, 3)}, 3)), "granted C.3 (v 0 1 2)");
}

TEST_F(Refusals, DuplicateResource) {
    expect_refused(asking({exclusive("z"), exclusive("z")}), " C: duplicate resource");
    expect_refused(asking({shared("z"), exclusive("w"), permits("z", 1, 2)}), " C: duplicate resource");
    EXPECT_EQ(apply(asking({exclusive("z"), exclusive("zz"), exclusive("Z")})), "granted C");
}

TEST_F(Refusals, HoldLimit) {  // rule 6
    const auto with = [this](duration limit, std::uint64_t number) {
        core::enter command = asking({exclusive("z" + std::to_string(number))}, number);
        command.options.hold_limit = limit;
        return command;
    };
    const duration longest = std::chrono::days{366};
    expect_refused(with(-1us, 1), " C: hold limit out of range");
    expect_refused(with(0us, 1), " C: hold limit out of range");
    expect_refused(with(999us, 1), " C: hold limit out of range");
    expect_refused(with(longest + 1us, 1), " C: hold limit out of range");
    EXPECT_EQ(apply(with(1ms, 1)), "granted C");
    EXPECT_EQ(apply(with(longest, 2)), "granted C.2");
}

TEST_F(Refusals, UnknownSession) {
    expect_refused(core::enter{id("Z"), {exclusive("z")}, {}}, " Z: unknown session");
    now += 10s;
    tick();
    expect_refused(core::enter{id("C"), {exclusive("z")}, {}}, " C: unknown session");
}

TEST_F(Refusals, ClaimsDiffer) {  // rule 9
    expect_refused(core::enter{id("B"), {shared("x")}, {}}, " B: claims differ");
    expect_refused(core::enter{id("A.2"), {exclusive("z")}, {}}, " A.2: claims differ");
}

TEST_F(Refusals, AboveLimit) {  // rule 10
    resize("z", 2);
    expect_refused(asking({permits("z", 3, 9)}, 1), " C: above limit");
    EXPECT_EQ(apply(asking({permits("z", 2, 9)}, 2)), "granted C.2 (z 0 1)");
}

TEST_F(Refusals, Busy) {
    core::enter command = asking({exclusive("x")});
    command.options.nowait = true;
    expect_refused(command, " C: busy");
}

TEST_F(Refusals, QueueFull) {
    core::enter command = asking({exclusive("x")}, 1);
    command.options.queue_bound = 1;
    expect_refused(command, " C: queue full");
    command = asking({exclusive("x")}, 2);
    command.options.queue_bound = 2;
    EXPECT_EQ(apply(command), "queued C.2");
}

TEST_F(Refusals, OfAnEnterAreCheckedInOneOrder) {
    resize("pinned", 1);
    core::enter command{{session("Z"), 0}, {}, {false, 0us, 0}};
    expect_refused(command, " Z.0: number out of range");
    command.request.number = 1;
    expect_refused(command, " Z: no claims");
    command.claims = std::vector<claim>(1'001, exclusive(""));
    expect_refused(command, " Z: too many claims");
    command.claims = {permits("", 0, 0), permits("", 0, 0)};
    expect_refused(command, " Z: name empty");
    command.claims = {permits("a", 0, 0), permits("", 0, 0)};
    expect_refused(command, " Z: permits out of range");  // claim by claim
    command.claims = {permits("pinned", 2, 2), permits("pinned", 2, 2)};
    expect_refused(command, " Z: duplicate resource");
    command.claims = {permits("pinned", 2, 2)};
    expect_refused(command, " Z: hold limit out of range");
    command.options.hold_limit = 1s;
    expect_refused(command, " Z: unknown session");
    command.request = id("B");
    expect_refused(command, " B: claims differ");
    command.request = id("C");
    command.options.nowait = true;
    expect_refused(command, " C: above limit");
    command = {{session("C"), 2}, {exclusive("x"), permits("pinned", 2, 2)}, {true, {}, 0}};
    expect_refused(command, " C.2: busy");
    command.request.number = 3;
    command.options.nowait = false;
    expect_refused(command, " C.3: queue full");
    command.request.number = 4;
    command.options.queue_bound.reset();
    expect_refused(command, " C.4: above limit");
}

TEST_F(Refusals, Ttl) {  // rule 5
    core::open command = open_command("C");
    command.ttl = 99ms;
    expect_refused(command, ": ttl out of range");
    command.ttl = 15'001ms;
    expect_refused(command, ": ttl out of range");
    command.ttl = -1ms;
    expect_refused(command, ": ttl out of range");
    command.ttl = 100ms;
    EXPECT_EQ(apply(command), "alive C");
    command.ttl = 15'000ms;
    command.connection_number += 1;
    EXPECT_EQ(apply(command), "alive C");
    begin_with({20s, {}});
    command.ttl = 20'001ms;
    expect_refused(command, ": ttl out of range");
    command.ttl = 20s;
    EXPECT_EQ(apply(command), "alive C");
}

TEST_F(Refusals, Label) {
    core::open command = open_command("C");
    command.label.assign(1'025, 'l');
    expect_refused(command, ": label too long");
    command.label.pop_back();
    EXPECT_EQ(apply(command), "alive C");
    command.connection_number += 1;
    command.label.clear();
    EXPECT_EQ(apply(command), "alive C");
}

TEST_F(Refusals, HighestNumber) {  // rule 9
    core::open command = open_command("C");
    command.highest = bounds::number;
    expect_refused(command, ": number out of range");
    command.highest = bounds::number - 1;
    EXPECT_EQ(apply(command), "alive C");
}

TEST_F(Refusals, NumbersAndClaimsOfAList) {  // rule 11
    const live_request good = grant({exclusive("z")}, {});
    const auto with_number = [&](std::uint64_t number) {
        live_request live = good;
        live.number = number;
        return live;
    };
    expect_refused(presenting({with_number(0)}), ": number out of range");
    expect_refused(presenting({with_number(bounds::number)}), ": number out of range");
    expect_refused(presenting({good, grant({}, {})}), ": no claims");
    expect_refused(presenting({grant({exclusive("")}, {})}), ": name empty");
    expect_refused(presenting({grant({exclusive(longest_name + "n")}, {})}), ": name too long");
    expect_refused(presenting({grant({permits("z", 2, 1)}, {})}), ": permits out of range");
    expect_refused(presenting({grant({exclusive("z"), shared("z")}, {})}), ": duplicate resource");
    expect_refused(presenting({grant(std::vector<claim>(1'001, exclusive("z")), {})}), ": too many claims");
    EXPECT_EQ(apply(presenting({with_number(bounds::number - 1), good})),
              "ended C.9007199254740991: gone; ended C: gone; alive C");
}

TEST_F(Refusals, NumbersThatNoEngineCanHaveGiven) {  // rule 11
    const auto with = [](serial ticket, serial fence) {
        return live_request{1, {exclusive("z")}, ticket, fence, {}, {}};
    };
    expect_refused(presenting({with(0, 5)}), ": bad reclaim");
    expect_refused(presenting({with(5, 5)}), ": bad reclaim");
    expect_refused(presenting({with(6, 5)}), ": bad reclaim");
    expect_refused(presenting({with(bounds::presented, 0)}), ": bad reclaim");
    expect_refused(presenting({with(5, bounds::presented)}), ": bad reclaim");
    for (const auto& [ticket, fence] :
         std::vector<std::pair<serial, serial>>{{0, 0}, {4, 5}, {bounds::presented - 2, bounds::presented - 1}})
        EXPECT_EQ(apply(presenting({with(ticket, fence)})), "ended C: gone; alive C");
    live_request waiter = with(5, 0);
    waiter.number = 2;
    EXPECT_EQ(apply(presenting({waiter})), "alive C: C.2 waits; granted C.2");
    leave("C.2");
    waiter.number = 3;
    waiter.ticket = bounds::presented - 1;
    EXPECT_EQ(apply(presenting({waiter})), "alive C: C.3 waits; granted C.3");
}

TEST_F(Refusals, ANumberTwiceInAList) {  // rule 11
    live_request first = grant({exclusive("z")}, {});
    live_request second = grant({exclusive("w")}, {});
    live_request third = grant({exclusive("v")}, {});
    second.number = 2;
    expect_refused(presenting({first, second, third}), ": bad reclaim");
    third.number = 3;
    EXPECT_EQ(apply(presenting({third, first, second})), "ended C.3: gone; ended C: gone; ended C.2: gone; alive C");
}

TEST_F(Refusals, RestOfAHoldLimitInAList) {  // rule 6, rule 11
    live_request live = grant({exclusive("z")}, {});
    const duration longest = std::chrono::days{366};
    for (const duration bad : {duration{-1us}, longest + 1us}) {
        live.hold = bad;
        expect_refused(presenting({live}), ": bad reclaim");
    }
    for (const duration good : {duration{0us}, duration{1us}, longest}) {
        live.hold = good;
        EXPECT_EQ(apply(presenting({live})), "ended C: gone; alive C");
    }
}

TEST_F(Refusals, HoldLimitOfAWaiterInAList) {  // rule 6, rule 11
    live_request waiter = grant({exclusive("z")}, {});
    waiter.fence = 0;
    for (const duration bad : {0us, 999us}) {  // a waiter has used up nothing, and no `enter` accepts so short a limit
        waiter.hold = bad;
        expect_refused(presenting({waiter}), ": bad reclaim");
    }
    waiter.hold = 1ms;
    EXPECT_EQ(apply(presenting({waiter})), "alive C: C waits; granted C");
}

TEST_F(Refusals, SlotsOfAListThatAreNotExactlyThoseOfThePermitClaims) {  // rule 11
    const std::vector<claim> claims{permits("s", 2, 9), exclusive("x"), permits("t", 1, 9)};
    const std::vector<std::vector<claim_slots>> bad{
        {},                                       // no slots
        {{"s", {0, 1}}},                          // one claim's missing
        {{"s", {0, 1}}, {"t", {}}},               // too few
        {{"s", {0, 1}}, {"t", {0, 1}}},           // too many
        {{"s", {0, 1}}, {"u", {0}}},              // of another name
        {{"t", {0}}, {"s", {0, 1}}},              // not in the order of the claims
        {{"s", {1, 0}}, {"t", {0}}},              // descending
        {{"s", {1, 1}}, {"t", {0}}},              // twice
        {{"s", {0, 65'536}}, {"t", {0}}},         // above every limit
        {{"s", {0, 1}}, {"t", {0}}, {"u", {0}}},  // one name more
        {{"s", {0, 1}}, {"x", {}}, {"t", {0}}},   // of a claim that has none
    };
    for (const auto& slots : bad) expect_refused(presenting({grant(claims, slots)}), ": bad reclaim");
    EXPECT_EQ(apply(presenting({grant(claims, {{"s", {3, 65'535}}, {"t", {0}}})})), "ended C: gone; alive C");

    live_request waiter = grant(claims, {{"s", {0, 1}}, {"t", {0}}});
    waiter.fence = 0;
    expect_refused(presenting({waiter}), ": bad reclaim");  // a waiter has none
    waiter.slots.clear();
    waiter.number = 2;
    EXPECT_EQ(apply(presenting({waiter})), "alive C: C.2 waits");
}

TEST_F(Refusals, StaleConnection) {  // rule 11
    core::open command = open_command("C");
    command.connection_number = 0;
    expect_refused(command, ": stale connection");
}

TEST_F(Refusals, UnknownSessionThatPresentsRequests) {  // rule 11
    expect_refused(open_command("Z", {grant({exclusive("z")}, {})}), ": unknown session");
}

TEST_F(Refusals, OfAnOpenAreCheckedInOneOrder) {
    live_request bad = grant({}, {{"z", {0}}});
    bad.number = 0;
    core::open command{session("Z"), 0ms, std::string(1'025, 'l'), 0, bounds::number, {bad}};
    expect_refused(command, ": ttl out of range");
    command.ttl = 1s;
    expect_refused(command, ": label too long");
    command.label = "Z";
    expect_refused(command, ": number out of range");
    command.highest = 0;
    expect_refused(command, ": number out of range");
    command.live[0].number = 1;
    expect_refused(command, ": no claims");
    command.live[0].claims = {exclusive("z")};
    expect_refused(command, ": bad reclaim");
    command.live[0].slots.clear();
    expect_refused(command, ": unknown session");
    command.session = session("C");
    expect_refused(command, ": stale connection");
}

TEST_F(Refusals, OfARevoke) {  // rule 13
    core::revoke command{"", 0, std::string(1'025, 'n'), false};
    expect_refused(command, ": note too long");
    command.note.pop_back();
    expect_refused(command, ": name empty");
    command.resource = longest_name + "n";
    expect_refused(command, ": name too long");
    command.resource = longest_name;
    expect_refused(command, ": not found");
    command.resource = "x";
    expect_refused(command, ": not found");
    command.ticket = ticket("A.2");
    EXPECT_EQ(apply(command), "revoking A.2: " + command.note);
}

TEST_F(Refusals, OfAMend) {  // rule 7
    expect_refused(core::mend{""}, ": name empty");
    expect_refused(core::mend{longest_name + "n"}, ": name too long");
    expect_refused(core::mend{longest_name}, ": not abandoned");
    expect_refused(core::mend{"x"}, ": not abandoned");
    EXPECT_EQ(mend("y"), "mended y");
}

TEST_F(Refusals, OfAResize) {  // rule 10
    expect_refused(core::resize{"", 0}, ": permits out of range");
    expect_refused(core::resize{"", 65'537}, ": permits out of range");
    expect_refused(core::resize{"", 1}, ": name empty");
    expect_refused(core::resize{"", std::nullopt}, ": name empty");
    expect_refused(core::resize{longest_name + "n", 1}, ": name too long");
    EXPECT_EQ(resize("z", 1), "resized z: 1");
    EXPECT_EQ(resize("z", 65'536), "resized z: 65536");
    EXPECT_EQ(resource("z")->pinned, 65'536U);
    EXPECT_EQ(resize(longest_name, 1), "resized " + longest_name + ": 1");
}

TEST_F(Refusals, NameTheRequestOfTheCommand) {
    apply(core::enter{id("Z"), {exclusive("z")}, {}});
    EXPECT_EQ(the<refused>(), (refused{id("Z"), refusal::unknown_session}));
    mend("x");
    EXPECT_EQ(the<refused>(), (refused{std::nullopt, refusal::not_abandoned}));
}

TEST_F(Refusals, TakeNoTicket) {  // rule 8
    now += 1s;
    apply(asking({exclusive("z"), exclusive("z")}));
    apply(core::enter{id("B"), {shared("x")}, {}});
    now -= 1s;
    enter("C", {exclusive("z")});
    EXPECT_EQ(ticket("C"), static_cast<serial>(now.time_since_epoch().count()));
}

TEST(Names, EveryRefusalAndEveryEndHasItsOwn) {
    std::set<std::string_view> names;
    for (int i = 0; i <= static_cast<int>(refusal::note_too_long); ++i)
        EXPECT_TRUE(names.insert(to_string(static_cast<refusal>(i))).second);
    EXPECT_EQ(names.size(), 21U);
    names.clear();
    for (int i = 0; i <= static_cast<int>(end_reason::gone); ++i)
        EXPECT_TRUE(names.insert(to_string(static_cast<end_reason>(i))).second);
    EXPECT_EQ(names.size(), 8U);
    EXPECT_EQ(to_string(refusal::queue_full), "queue full");
    EXPECT_EQ(to_string(end_reason::hold_limit), "hold limit");
}

}  // namespace
}  // namespace baton::core::test
