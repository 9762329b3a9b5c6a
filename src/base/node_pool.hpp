// A memory resource for node-based containers such as maps. Freed nodes are reused for the next node of their size, so
// a map that grows and shrinks makes no calls of `new` and `delete`.
#pragma once

#include <array>
#include <cstddef>
#include <memory_resource>
#include <new>

namespace baton::detail {

/// Not thread-safe. Must outlive its allocations.
class node_pool final : public std::pmr::memory_resource {
public:
    node_pool() = default;
    node_pool(const node_pool&) = delete;
    node_pool& operator=(const node_pool&) = delete;
    ~node_pool() override {
        for (spare_nodes& spare : spare_)
            while (spare.first != nullptr) ::operator delete(spare.take());
    }

private:
    static constexpr std::size_t step = alignof(std::max_align_t);  // sizes are rounded up to it
    static constexpr std::size_t largest = 64 * step;               // larger blocks are not pooled
    static constexpr std::size_t most_spare = 1'024;                // of one size; further freed nodes are deleted

    struct node {
        node* next;
    };
    struct spare_nodes {
        node* first = nullptr;
        std::size_t count = 0;

        void* take() {
            node* const taken = first;
            first = taken->next;
            --count;
            return taken;
        }
        void add(void* memory) {
            first = new (memory) node{first};
            ++count;
        }
    };

    static bool is_kept(std::size_t bytes, std::size_t alignment) { return bytes <= largest && alignment <= step; }
    static std::size_t class_of(std::size_t bytes) { return (bytes + step - 1) / step; }

    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        if (!is_kept(bytes, alignment)) return ::operator new(bytes, std::align_val_t{alignment});
        spare_nodes& spare = spare_[class_of(bytes)];
        return spare.first != nullptr ? spare.take() : ::operator new(class_of(bytes) * step);
    }
    void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override {
        if (!is_kept(bytes, alignment)) return ::operator delete(memory, std::align_val_t{alignment});
        spare_nodes& spare = spare_[class_of(bytes)];
        spare.count < most_spare ? spare.add(memory) : ::operator delete(memory);
    }
    [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
        return this == &other;
    }

    std::array<spare_nodes, largest / step + 1> spare_;
};

}  // namespace baton::detail
