// A client of Baton that records its actions and its beliefs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include "../contract/broken_store.hpp"
#include "baton/baton.hpp"
#include "recorder.hpp"

namespace baton::history {

/// A lease, from `held` to `released` or `lost`. Used by one thread.
class recorded_lease {
public:
    recorded_lease(recorder& recorder, std::uint64_t number, const claims& claims, lease lease, std::uint64_t ticket);
    recorded_lease(const recorded_lease&) = delete;
    recorded_lease& operator=(const recorded_lease&) = delete;
    /// Releases the lease.
    ~recorded_lease();

    /// Whether the lease is valid now. A holder calls this often: its window ends with the last call that returned
    /// true.
    [[nodiscard]] bool believes();

private:
    recorder& recorder_;
    std::uint64_t number_;
    lease lease_;
    moment last_{};   // the last moment of belief
    moment until_{};  // the last recorded end
};

/// Thread-safe, as a client is. It reads tickets between client and store, because leases do not have them.
class recorded_client {
public:
    recorded_client(recorder& recorder, std::string_view url, const client_options& options);

    /// None if the request was not granted, which is recorded.
    [[nodiscard]] std::unique_ptr<recorded_lease> acquire(const claims& claims, const acquire_options& options = {});

private:
    struct tickets {
        std::mutex mutex;
        std::map<std::uint64_t, std::uint64_t> by_fence;
    };

    [[nodiscard]] broken::fault listening();
    [[nodiscard]] client_options observed(client_options options);
    [[nodiscard]] std::uint64_t ticket_of(std::uint64_t fence);

    recorder& recorder_;
    std::shared_ptr<tickets> tickets_ = std::make_shared<tickets>();
    client client_;
};

}  // namespace baton::history
