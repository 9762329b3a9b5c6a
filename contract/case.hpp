// A case of the contract: its claim, the capabilities that it needs, and a function that tries to falsify the claim.
// Each file of cases has one function that lists them; suite.cpp calls these functions, so that the linker keeps all
// files.
#pragma once

#include <string>
#include <vector>

#include "baton/contract/suite.hpp"

namespace baton::contract {

class bench;

using need = bool capabilities::*;

struct test_case {
    std::string topic;
    std::string claim;
    std::vector<need> needs;
    void (*body)(bench&);
};

using cases = std::vector<test_case>;

cases exclusion_cases();
cases order_cases();
cases all_or_nothing_cases();
cases timeout_cases();
cases cancel_cases();
cases fence_cases();
cases slot_cases();
cases liveness_cases();
cases abandoned_cases();
cases hold_limit_cases();
cases operator_cases();
cases inspect_cases();
cases once_only_cases();
cases notice_cases();
cases outage_cases();
cases refusal_cases();
cases pause_cases();
cases lifetime_cases();

}  // namespace baton::contract
