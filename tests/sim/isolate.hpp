// Running apart, in a process of its own: an engine that dies of an assertion is a failure like any other, to be shrunk
// and printed. Nothing here may be used while this process has other threads.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "plan.hpp"
#include "run.hpp"

namespace baton::sim {

/// One schedule takes milliseconds: an engine that needs longer than this hangs.
inline constexpr std::chrono::seconds patience{60};

/// Numbers that this process shares with its children: they outlive a child that dies.
class shared_numbers {
public:
    explicit shared_numbers(std::size_t count);
    shared_numbers(const shared_numbers&) = delete;
    shared_numbers& operator=(const shared_numbers&) = delete;
    ~shared_numbers();

    [[nodiscard]] std::span<std::uint64_t> all() const { return all_; }

private:
    std::span<std::uint64_t> all_;
};

/// What the work returned in a child of its own; none if the child died instead.
[[nodiscard]] std::optional<bool> run_apart(const std::function<bool()>& work);

/// What the child prints on its way out is of interest once, not at every attempt to shrink.
enum class child_output : std::uint8_t { shown, hidden };

[[nodiscard]] std::optional<failure> replay_apart(const plan& plan, run_options options, child_output output);
[[nodiscard]] std::optional<failure> run_seed_apart(std::uint64_t seed, run_options options, plan& ran);

}  // namespace baton::sim
