// Addresses with a dialect: valid options, and the errors for invalid ones.
#include <gtest/gtest.h>

#include "baton/baton.hpp"
#include "baton/dialects.hpp"

namespace baton {
namespace {

using namespace std::chrono_literals;

class DialectOptions : public testing::Test {
protected:
    static void SetUpTestSuite() { register_dialects(); }
};

std::string refusal_of(const std::string& options) {
    try {
        static_cast<void>(make_store("redis://localhost?" + options));
    } catch (const error& refused) {
        EXPECT_EQ(refused.code(), errc::bad_url) << options;
        return refused.what();
    }
    return "";
}

TEST_F(DialectOptions, HaveTheDefaultsOfTheOriginals) {
    const auto pace = [](const char* options) { return make_store(std::string{"redis://h?"} + options)->pace(); };
    EXPECT_EQ(pace("dialect=amphp")->ttl, 3s);
    EXPECT_EQ(pace("dialect=amphp")->renew_every, 1s);
    EXPECT_EQ(pace("dialect=adv-sem")->ttl, 180s);
    EXPECT_EQ(pace("dialect=adv-sem&ping_interval=36s")->renew_every, 36s);
    EXPECT_EQ(pace("dialect=adv-sem")->renew_every, 5s)
        << "more often than the original: a peer may let keys expire after 11 s";
    EXPECT_EQ(pace("dialect=redturn&timeout=6s")->ttl, 6s);
    EXPECT_EQ(pace("dialect=redturn&timeout=6s")->renew_every, 2s);
    EXPECT_EQ(pace("dialect=amphp&lock_expiration=900ms")->renew_every, 300ms)
        << "a third of the expiration, if that is less than the default";
    EXPECT_FALSE(pace("space=x")) << "in the native protocol the client chooses the ttl";
}

TEST_F(DialectOptions, AreRefusedWithTheValidOnes) {
    const std::vector<std::pair<std::string, std::string>> cases{
        {"dialect=", "dialect is followed by its name"},
        {"dialect=php", "no dialect is called php; there are amphp, redturn and adv-sem"},
        {"dialect=amphp&space=x", "the dialect amphp has no option space; there are key_prefix, lock_expiration"},
        {"dialect=amphp&lock_expiration=1ms", "lock_expiration is a time as in 15s or 500ms, from 100ms to"},
        {"dialect=amphp&lock_expiration=1s&lock_renew_interval=900ms", "lock_renew_interval is a time"},
        {"dialect=redturn&notices=both", "notices is new or old, and not both"},
        {"dialect=redturn&notices=new&notices=old", "the option notices is given twice"},
        {"dialect=adv-sem&heartbeat_max_interval=1500ms", "heartbeat_max_interval is a whole number of seconds"},
        {"dialect=adv-sem&ttl=none", "ttl is a time"},
        {"dialect=adv-sem&max_ttl=10s", "the dialect adv-sem has no option max_ttl"},
    };
    for (const auto& [options, words] : cases)
        EXPECT_NE(refusal_of(options).find(words), std::string::npos) << options << ": " << refusal_of(options);
    EXPECT_EQ(refusal_of("dialect=amphp&key_prefix=app%3A&lock_timeout=5s"), "");
}

TEST_F(DialectOptions, UnsupportedClaimsAreRefusedWithTheSupportedOnes) {
    const auto objection = [](const char* dialect, const claims& wanted) {
        return make_store(std::string{"redis://h?dialect="} + dialect)->objection(wanted.list(), {});
    };
    for (const char* dialect : {"amphp", "redturn"}) {
        EXPECT_EQ(objection(dialect, exclusive("a")), "");
        EXPECT_NE(objection(dialect, exclusive("a", "b")).find("locks one name at a time"), std::string::npos);
        EXPECT_NE(objection(dialect, shared("a")).find("exclusive locks only"), std::string::npos);
        EXPECT_NE(objection(dialect, permits("a", {.count = 1, .limit = 8})).find("exclusive locks only"),
                  std::string::npos);
    }
    EXPECT_EQ(objection("adv-sem", exclusive("a")), "");
    EXPECT_EQ(objection("adv-sem", permits("a", {.count = 1, .limit = 8})), "");
    EXPECT_NE(objection("adv-sem", permits("a", {.count = 2, .limit = 8})).find("one slot at a time"),
              std::string::npos);
    EXPECT_NE(objection("adv-sem", shared("a")).find("shared locks need the native protocol"), std::string::npos);
    EXPECT_NE(objection("adv-sem", exclusive("a", "b")).find("one semaphore at a time"), std::string::npos);
}

TEST_F(DialectOptions, AClientThatWantsAnotherTtlIsRefused) {
    const auto store = make_store("unix:/nowhere?dialect=amphp");
    EXPECT_THROW((client{store, {.ttl = 5s, .label = "test"}}), error);
    try {
        const client wrong{store, {.ttl = 5s, .label = "test"}};
    } catch (const error& refused) {
        EXPECT_EQ(refused.code(), errc::unsupported);
        EXPECT_NE(std::string{refused.what()}.find("the ttl is an option of the address here"), std::string::npos);
    }
}

}  // namespace
}  // namespace baton
