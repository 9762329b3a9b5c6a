// Tests of any store, on `memory:`.
#include <atomic>

#include "any_store.hpp"
#include "engine/check.hpp"
#include "engine/engine.hpp"

namespace baton::client_tests {
namespace {

class memory_of_its_own final : public any_store {
public:
    [[nodiscard]] std::string url() const override { return url_; }
    [[nodiscard]] std::size_t allocations_allowed() const override { return 4; }
#ifndef NDEBUG
    // With assertions the engine checks its invariants after every `enter` of a session that holds nothing else.
    [[nodiscard]] std::size_t allocations_of_assertions(std::size_t (*count)()) const override {
        const core::session_id session{1, 1};
        const core::instant now{std::chrono::seconds{1'800'000'000}};  // tickets have as many digits as today's
        core::engine engine;
        static_cast<void>(engine.apply(core::open{session, std::chrono::seconds{10}, "label", 1, 0, {}}, now));
        static_cast<void>(engine.apply(core::enter{{session, 1}, exclusive("ledger").list(), {}}, now));
        const std::size_t before = count();
        static_cast<void>(core::check(engine));
        return count() - before;
    }
#endif

private:
    static inline std::atomic<int> count_ = 0;
    std::string url_ = "memory:any-store-" + std::to_string(++count_);
};

}  // namespace

std::unique_ptr<any_store> start_store() { return std::make_unique<memory_of_its_own>(); }

}  // namespace baton::client_tests
