// A client of Baton that writes down what it does and what it believes.
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
    /// Releases it.
    ~recorded_lease();

    /// Whether it is valid now. A holder asks often: its window ends with the last time that it was told yes.
    [[nodiscard]] bool believes();

private:
    recorder& recorder_;
    std::uint64_t number_;
    lease lease_;
    moment last_{};   // at which it believed
    moment until_{};  // as it was last written
};

/// Thread-safe, as a client is. Listens between client and store for tickets, which leases do not tell.
class recorded_client {
public:
    recorded_client(recorder& recorder, std::string_view url, const client_options& options);

    /// None: it was not granted, which is written down.
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
