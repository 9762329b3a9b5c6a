#include "stores/redis/dialect_factory.hpp"

#include <atomic>
#include <utility>

#include "baton/error.hpp"

namespace baton::detail {
namespace {

std::atomic<dialect_factory> registered{nullptr};

}  // namespace

void register_dialect_factory(dialect_factory factory) noexcept { registered = factory; }

std::shared_ptr<store> dialect_store(redis_address address) {
    if (const dialect_factory make = registered) return make(std::move(address));
    throw error{errc::unsupported,
                "this program has no dialects: link it with baton::dialects and call "
                "baton::register_dialects(), or build it with BATON_DIALECTS=ON"};
}

}  // namespace baton::detail
