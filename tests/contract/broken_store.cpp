#include "broken_store.hpp"

#include <optional>
#include <stdexcept>
#include <utility>

#include "../forwarding_listener.hpp"
#include "baton/error.hpp"

namespace baton::broken {
namespace {

using protocol::event;

class listener final : public forwarding_listener {
public:
    listener(std::shared_ptr<const fault> fault, std::weak_ptr<store_listener> client)
        : forwarding_listener{std::move(client)}, fault_{std::move(fault)} {}

    void replied(command_tag tag, epoch epoch, std::span<const event> events) noexcept override {
        std::vector<event> changed{events.begin(), events.end()};
        if (fault_->event)
            for (event& event : changed) fault_->event(event);
        forwarding_listener::replied(tag, epoch, changed);
    }
    void noticed(epoch epoch, event event) noexcept override {
        if (!fault_->notices) return;
        if (fault_->event) fault_->event(event);
        forwarding_listener::noticed(epoch, std::move(event));
    }

private:
    std::shared_ptr<const fault> fault_;
};

class connection final : public store_connection {
public:
    connection(std::shared_ptr<const fault> fault, const std::shared_ptr<store>& inner,
               std::weak_ptr<store_listener> client)
        : fault_{std::move(fault)},
          listener_{std::make_shared<listener>(fault_, std::move(client))},
          inner_{inner->connect(listener_)} {}

    void send(std::span<tagged_command> messages) override {
        std::vector<tagged_command> passed;
        std::vector<std::pair<command_tag, event>> replied;
        for (tagged_command& each : messages) {
            if (fault_->rejects && fault_->rejects(each.command)) {
                listener_->failed(each.tag, command_failure::rejected, {errc::unsupported});
                continue;
            }
            if (fault_->command) fault_->command(each.command);
            if (auto reply = fault_->instead ? fault_->instead(each.command) : std::nullopt)
                replied.emplace_back(each.tag, std::move(*reply));
            else
                passed.push_back(std::move(each));
        }
        if (fault_->batch) fault_->batch(passed);
        if (!passed.empty()) inner_->send(passed);
        for (auto& [tag, event] : replied) listener_->replied(tag, 1, std::array{std::move(event)});
    }
    void reset() override { inner_->reset(); }
    void inspect(const inspect_filter& filter, snapshot_callback done) override {
        if (fault_->rejects)
            done({errc::unsupported}, {});
        else if (fault_->inspects)
            inner_->inspect(filter, std::move(done));
        else
            done({}, {});
    }

private:
    std::shared_ptr<const fault> fault_;
    std::shared_ptr<listener> listener_;
    std::unique_ptr<store_connection> inner_;
};

class broken_store final : public store {
public:
    broken_store(fault fault, std::shared_ptr<store> inner)
        : fault_{std::make_shared<const broken::fault>(std::move(fault))}, inner_{std::move(inner)} {}

    std::unique_ptr<store_connection> connect(std::weak_ptr<store_listener> listener) override {
        return std::make_unique<connection>(fault_, inner_, std::move(listener));
    }
    [[nodiscard]] lease_clock clock() const override { return inner_->clock(); }

private:
    std::shared_ptr<const fault> fault_;
    std::shared_ptr<store> inner_;
};

}  // namespace

std::shared_ptr<store> store_with(const std::string& fault, std::shared_ptr<store> inner) {
    const auto found = faults().find(fault);
    if (found == faults().end()) throw std::invalid_argument{"no such fault: " + fault};
    return store_with(found->second(), std::move(inner));
}

std::shared_ptr<store> store_with(fault fault, std::shared_ptr<store> inner) {
    return std::make_shared<broken_store>(std::move(fault), std::move(inner));
}

}  // namespace baton::broken
