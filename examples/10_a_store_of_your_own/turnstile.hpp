// A store of your own: named locks inside one process, first come, first served. It supports exclusive claims on one
// name and nothing more; the contract suite (contract.cpp) tells what that takes. Only public headers of Baton are
// used.
#pragma once

#include <baton/store.hpp>

#include <memory>
#include <thread>

class keeper;  // what the turnstile knows: turnstile.cpp

class turnstile : public baton::store, public std::enable_shared_from_this<turnstile> {
public:
    turnstile();
    ~turnstile() override;

    std::unique_ptr<baton::store_line> connect(std::weak_ptr<baton::store_listener> listener) override;

    // Its clients live in the same process: when the machine sleeps, both clocks do.
    [[nodiscard]] baton::lease_clock clock() const override { return baton::lease_clock::monotonic; }

    void perform(const std::weak_ptr<baton::store_listener>& from, const std::vector<baton::message>& messages);

private:
    std::shared_ptr<keeper> keeper_;
    std::jthread timer_;
};
