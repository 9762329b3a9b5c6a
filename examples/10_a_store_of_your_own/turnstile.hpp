// A store of your own: named locks inside one process, first come, first served. It supports exclusive claims on one
// name and nothing more; the contract suite (contract.cpp) tests it. Only public headers of Baton are used.
#pragma once

#include <baton/store.hpp>

#include <memory>
#include <thread>

class turnstile : public baton::store {
public:
    turnstile();
    ~turnstile() override;

    std::unique_ptr<baton::store_connection> connect(std::weak_ptr<baton::store_listener> listener) override;

    // Its clients are in the same process: while the machine sleeps, the clocks of both stop.
    [[nodiscard]] baton::lease_clock clock() const override { return baton::lease_clock::monotonic; }

    class desk;

private:
    std::shared_ptr<desk> desk_;
    std::jthread timer_;
};
