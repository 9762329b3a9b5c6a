#include "shrink.hpp"

#include <utility>

#include "isolate.hpp"
#include "shrink_plan.hpp"

namespace baton::sim {

failure shrink(plan& failing, failure found, const run_options& options) {
    return shrink_plan(failing, std::move(found), std::chrono::seconds{20},
                       [&options](const plan& tried) { return replay_apart(tried, options, child_output::hidden); });
}

}  // namespace baton::sim
