#include "baton/contract/suite.hpp"

#include <gtest/gtest.h>

#include <random>

#include "bench.hpp"
#include "case.hpp"

namespace baton::contract {
namespace {

/// The name of a capability in the message of a skipped case.
const char* name_of(need need) {
    struct row {
        contract::need need;
        const char* text;
    };
    static constexpr row rows[] = {
        {&capabilities::shared, "shared claims"},
        {&capabilities::permits, "permits"},
        {&capabilities::several_permits, "several permits in a claim"},
        {&capabilities::several_names, "several names in a request"},
        {&capabilities::strict_order, "strict order"},
        {&capabilities::kept_sessions, "sessions that outlive their connections"},
        {&capabilities::kept_positions, "waiters that come back"},
        {&capabilities::growing_fences, "growing fences"},
        {&capabilities::slots, "slots"},
        {&capabilities::abandoned_marks, "abandoned marks"},
        {&capabilities::hold_limit, "a hold limit"},
        {&capabilities::nowait, "nowait"},
        {&capabilities::one_by_one, "commands one by one"},
        {&capabilities::queue_bound, "a bound on the queue"},
        {&capabilities::revoke, "revoke"},
        {&capabilities::resize, "resize"},
        {&capabilities::inspect, "inspect"},
        {&capabilities::labels, "labels in what it shows"},
        {&capabilities::pause, "pause"},
        {&capabilities::chosen_ttl, "a ttl of the client's choice"},
        {&capabilities::expiring_waiters, "waiters that expire wherever they stand"},
    };
    for (const row& row : rows)
        if (row.need == need) return row.text;
    return "something without a name";
}

class contract_test final : public testing::Test {
public:
    contract_test(std::shared_ptr<const description> store, test_case test)
        : store_{std::move(store)}, case_{std::move(test)} {}

    void TestBody() override {
        for (const need need : case_.needs)
            if (!(store_->can.*need)) GTEST_SKIP() << store_->name << " does not support " << name_of(need);
        bench bench{*store_};
        case_.body(bench);
    }

private:
    std::shared_ptr<const description> store_;
    test_case case_;
};

}  // namespace

bool add(const description& store) {
    const auto shared = std::make_shared<const description>(store);
    for (const auto list :
         {exclusion_cases, order_cases, all_or_nothing_cases, timeout_cases, cancel_cases, fence_cases, slot_cases,
          liveness_cases, abandoned_cases, hold_limit_cases, operator_cases, inspect_cases, once_only_cases,
          notice_cases, outage_cases, refusal_cases, pause_cases, lifetime_cases}) {
        for (const test_case& test : list())
            testing::RegisterTest((store.name + "/" + test.topic).c_str(), test.claim.c_str(), nullptr, nullptr,
                                  __FILE__, __LINE__, [shared, test]() -> testing::Test* {
                                      return new contract_test{shared, test};
                                  });
    }
    return true;
}

std::string fresh_name() {
    std::random_device random;
    return "contract" + std::to_string(random()) + "x" + std::to_string(random());
}

}  // namespace baton::contract
