// Runs a schedule in a child process, so that an engine that ends by an assertion is a failure that can be shrunk and
// printed. Requires that this process has no other threads.
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
inline constexpr std::chrono::seconds timeout{60};

/// Numbers in memory that is shared with child processes: they remain when a child dies.
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

/// Runs the work in a child and returns its result; none if the child died.
[[nodiscard]] std::optional<bool> run_apart(const std::function<bool()>& work);

/// Whether the child's output is shown: once for the report, hidden in the attempts to shrink.
enum class child_output : std::uint8_t { shown, hidden };

[[nodiscard]] std::optional<failure> replay_apart(const plan& plan, run_options options, child_output output);
[[nodiscard]] std::optional<failure> run_seed_apart(std::uint64_t seed, run_options options, plan& ran);

}  // namespace baton::sim
