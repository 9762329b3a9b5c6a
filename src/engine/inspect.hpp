// Takes a snapshot of the engine for `inspect`. The public header describes what a snapshot shows.
#pragma once

#include "baton/inspect.hpp"
#include "engine/engine.hpp"

namespace baton::core {

using baton::blocker;
using baton::blockers_shown;
using baton::circle;
using baton::circle_step;
using baton::claim_view;
using baton::inspect_filter;
using baton::request_view;
using baton::resource_view;
using baton::snapshot;

[[nodiscard]] snapshot inspect(const engine& engine, const inspect_filter& filter, instant now);

}  // namespace baton::core
