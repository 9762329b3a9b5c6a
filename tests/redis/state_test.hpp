// The fixture of the tests of lost state. The tests judge by the clients' leases: two leases of one name that are valid
// at the same moment are a failure, whatever state the servers have.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>

#include "../eventually.hpp"
#include "../folder.hpp"
#include "baton/baton.hpp"
#include "private_server.hpp"
#include "proxy.hpp"
#include "replication.hpp"

namespace baton::redis_tests {

using namespace std::chrono_literals;

/// The terms of a space, as options of an address.
struct terms {
    std::chrono::milliseconds max_ttl{1'000};
    std::chrono::milliseconds lag{100};
    std::string more = {};  // further options: "&pause=off"

    [[nodiscard]] std::chrono::milliseconds pause() const { return max_ttl + lag; }
};

inline std::string url_at(const endpoint& where, const terms& terms = {}) {
    return "unix:" + where.path + "?max_ttl=" + std::to_string(terms.max_ttl.count()) +
           "ms&lag=" + std::to_string(terms.lag.count()) + "ms" + terms.more;
}

/// Tests end with clients that cannot reach a server; a short timeout keeps their destructors fast.
inline client_options options_of(std::chrono::milliseconds ttl = 1s, std::shared_ptr<observer> observer = nullptr) {
    return {.ttl = ttl, .label = {}, .close_wait = 100ms, .observer = std::move(observer)};
}

inline client client_to(const endpoint& where, const terms& terms = {}, std::chrono::milliseconds ttl = 1s) {
    return client{url_at(where, terms), options_of(ttl)};
}

/// Well above the duration of any test: a pause, a ttl and some reconnects.
inline constexpr acquire_options patiently{.wait = long_enough};

struct connection_changes final : observer {
    std::atomic<int> lost{0};
    std::atomic<int> made{0};
    void reconnecting(std::error_code, const std::string&) override { ++lost; }
    void connected() override { ++made; }
    void reconnected() override { ++made; }
};

/// True if the lease was renewed recently, so that it stays valid for most of its ttl.
inline bool is_fresh(const lease& lease, std::chrono::milliseconds ttl = 1s) {
    return lease.valid_for() > ttl * 7 / 10;
}

/// Holds "x" over a separate connection, which a test cuts: from then on its lease is valid until its ttl ends, and it
/// cannot present the lease to a server.
class lone_holder {
public:
    explicit lone_holder(const endpoint& server, const terms& terms = {})
        : way_{server, place_.path("way")}, client_{client_to(way_.at(), terms)} {
        client_.connect(long_enough);
    }

    void acquire() { held_ = client_.acquire(exclusive("x"), patiently); }
    void cut_off() {
        static_cast<void>(eventually([&] { return is_fresh(held_); }));
        way_.cut({.refuse = true});
    }
    void come_back() { way_.set({}); }
    void move_to(const endpoint& server) { way_.move_to(server); }

    [[nodiscard]] const lease& held() const { return held_; }
    [[nodiscard]] bool believes() const { return held_.valid(); }

private:
    folder place_;
    proxy way_;
    client client_;
    lease held_;
};

class RedisState : public testing::Test {
protected:
    void SetUp() override {
        if (!find_server()) GTEST_SKIP() << no_server;
    }

    /// Makes the server so old that no lease from before its start can still be valid.
    static void wait_until_long_up(const private_server& server, const terms& terms = {}) {
        const auto enough = std::chrono::ceil<std::chrono::seconds>(terms.max_ttl).count() + 1;
        ASSERT_TRUE(eventually([&] { return uptime(server) >= enough; }));
    }

    /// Waits until the client's session is open and the initial pause of the space has ended.
    static void warm_up(client& who) { static_cast<void>(who.acquire(exclusive("warm-up"), patiently)); }

    /// `other` gets "x", but not before the holder's lease has ended. A lease never becomes valid again, so a lease
    /// that is valid after the grant was valid at the moment of the grant.
    static void expect_passes_on(client& other, const lone_holder& holder) {
        ASSERT_TRUE(holder.believes()) << "the test was too slow";
        std::error_code error;
        const lease next = other.acquire(exclusive("x"), patiently, error);
        EXPECT_FALSE(next.valid() && holder.believes())
            << "two believers: the holder still believes for " << holder.held().valid_for() / 1ms << " ms";
        EXPECT_TRUE(next.valid()) << "it is served in the end: " << error.message();
    }
};

}  // namespace baton::redis_tests
