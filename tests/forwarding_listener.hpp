// A listener between a store and a client, for stores that wrap another one: it forwards every call. A derived class
// overrides the calls in which its store differs.
#pragma once

#include <memory>
#include <span>
#include <utility>

#include "baton/store.hpp"

namespace baton {

class forwarding_listener : public store_listener {
public:
    explicit forwarding_listener(std::weak_ptr<store_listener> client) : client_{std::move(client)} {}
    virtual ~forwarding_listener() = default;

    void up(epoch epoch) noexcept override {
        if (const auto to = client_.lock()) to->up(epoch);
    }
    void down(const store_error& why) noexcept override {
        if (const auto to = client_.lock()) to->down(why);
    }
    void unusable(const store_error& why) noexcept override {
        if (const auto to = client_.lock()) to->unusable(why);
    }
    void replied(command_tag tag, epoch epoch, std::span<const protocol::event> events) noexcept override {
        if (const auto to = client_.lock()) to->replied(tag, epoch, events);
    }
    void failed(command_tag tag, command_failure how, const store_error& why) noexcept override {
        if (const auto to = client_.lock()) to->failed(tag, how, why);
    }
    void noticed(epoch epoch, protocol::event event) noexcept override {
        if (const auto to = client_.lock()) to->noticed(epoch, std::move(event));
    }

protected:
    [[nodiscard]] const std::weak_ptr<store_listener>& client() const { return client_; }

private:
    const std::weak_ptr<store_listener> client_;
};

}  // namespace baton
