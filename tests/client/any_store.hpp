// A private store for tests that run unchanged on `memory:`, on `local:` with a private agent and on Redis with a
// private server. A program links the file of one store: on_memory.cpp, on_local.cpp, on_redis.cpp.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace baton::client_tests {

class any_store {
public:
    any_store() = default;
    any_store(const any_store&) = delete;
    any_store& operator=(const any_store&) = delete;
    virtual ~any_store() = default;

    [[nodiscard]] virtual std::string url() const = 0;
    /// The bound on allocations in the client's process for one acquire and its release.
    [[nodiscard]] virtual std::size_t allocations_allowed() const = 0;
    /// The number of allocations that the assertions of this build add, measured with `count`; 0 in a release build.
    [[nodiscard]] virtual std::size_t allocations_of_assertions(std::size_t (*count)()) const {
        static_cast<void>(count);
        return 0;
    }

    /// Send SIGSTOP and SIGCONT to the process of the store, if it has one.
    virtual void stop() const {}
    virtual void go_on() const {}
};

/// The store's process is stopped for the life of this object.
class stopped {
public:
    explicit stopped(const any_store& store) : store_{store} { store_.stop(); }
    stopped(const stopped&) = delete;
    stopped& operator=(const stopped&) = delete;
    ~stopped() { store_.go_on(); }

private:
    const any_store& store_;
};

/// Null if the store is not installed on this machine: the test is skipped.
[[nodiscard]] std::unique_ptr<any_store> start_store();

}  // namespace baton::client_tests
