// The number of allocations of one acquire and its release in the client's process, on all threads.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "any_store.hpp"
#include "baton/client.hpp"

namespace {
std::atomic<std::size_t> allocations{0};

void* counted(std::size_t size) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
    throw std::bad_alloc{};
}
void* counted(std::size_t size, std::align_val_t alignment) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    const auto to = static_cast<std::size_t>(alignment);
    if (void* const memory = std::aligned_alloc(to, (size + to - 1) / to * to)) return memory;
    throw std::bad_alloc{};
}
}  // namespace

// The array and nothrow forms call these.
void* operator new(std::size_t size) { return counted(size); }
void* operator new(std::size_t size, std::align_val_t alignment) { return counted(size, alignment); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace baton::client_tests {
namespace {

TEST(Allocations, OfAnAcquireAndItsReleaseStayWithinTheBound) {
    const auto store = start_store();
    if (!store) GTEST_SKIP() << "the store is not installed";
    client client{store->url()};
    const claims wanted = exclusive("ledger");
    const auto cycles = [&](int count) {
        for (int i = 0; i < count; ++i) static_cast<void>(client.acquire(wanted));
    };
    cycles(200);  // let buffers and tables reach their final size
    constexpr int count = 1'000;
    const std::size_t before = allocations;
    cycles(count);
    const double all = static_cast<double>(allocations - before) / count;
    const double mean = all - static_cast<double>(store->allocations_of_assertions([] { return allocations.load(); }));
    RecordProperty("allocations", std::to_string(mean));
    EXPECT_LE(mean, static_cast<double>(store->allocations_allowed())) << "allocations for each acquire and release";
}

}  // namespace
}  // namespace baton::client_tests
