#include "stores/redis/former_primary.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "stores/redis/connect.hpp"
#include "stores/redis/function_call.hpp"
#include "stores/redis/handshake.hpp"
#include "stores/redis/refusals.hpp"
#include "stores/resp/connection.hpp"

namespace baton::redis {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr std::string_view asks = "BATONHANDOVER ";
constexpr std::size_t most_replicas = 5;
constexpr std::size_t longest_attested = 512;
/// A former primary connects to the new one a few milliseconds after its promotion.
constexpr milliseconds first_patience{20};
/// Not longer than `lag`, in which no lease of before can be renewed anyway.
constexpr milliseconds longest_search{500};

std::string_view next_word(std::string_view& rest) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    const std::string_view word = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return word;
}

}  // namespace

/// The connection to a replica.
class attesting_connection final : public resp::connection {
public:
    attesting_connection(detail::event_loop& loop, detail::redis_address address,
                         std::function<void(std::string)> attested)
        : connection{loop, {}, address.connect_timeout}, address_{std::move(address)}, attested_{std::move(attested)} {}

    void ask(const former_primary_search::question& question) {
        words_.clear();
        encode(words_, attest_call(question.epoch, question.run_id));
        if (is_up_) send(words_, std::array{command_tag{1}});
    }

private:
    void open_socket(resp::socket_result done) override {
        is_up_ = false;
        detail::connect_redis(loop(), address_, std::move(done));
    }
    resp::handshake_step begin_handshake() override {
        resp::handshake_step step;
        say_hello(step.send, address_);
        return step;
    }
    resp::handshake_step continue_handshake(const resp::value& answer) override {
        if (answer.kind == resp::kind::error) return refused(address_, {origin::reply, answer.text});
        return {.epoch = 1};
    }
    void up(epoch /*epoch*/) override {
        is_up_ = true;
        send(words_, std::array{command_tag{1}});
    }
    void down(const store_error& /*why*/) override { is_up_ = false; }
    void permanent(const store_error& /*why*/) override {}
    void answered(command_tag /*tag*/, const resp::value& answer) override {
        const bool is_known = answer.kind != resp::kind::error && !answer.text.empty();
        if (is_known && answer.text.size() <= longest_attested) attested_(answer.text);
    }
    void pushed(const resp::value& /*message*/) override {}

    detail::redis_address address_;
    const std::function<void(std::string)> attested_;
    std::string words_;
    bool is_up_ = false;
};

std::optional<former_primary_search::question> former_primary_search::question_in(const resp::value& reply) {
    if (reply.kind != resp::kind::error || !reply.text.starts_with(asks)) return {};
    std::string_view rest = std::string_view{reply.text}.substr(asks.size());
    question found;
    found.epoch = next_word(rest);
    found.run_id = next_word(rest);
    while (!rest.empty() && found.replicas.size() < most_replicas) {
        detail::host_and_port place{std::string{next_word(rest)}, 0};
        const std::string_view port = next_word(rest);
        std::from_chars(port.data(), port.data() + port.size(), place.port);
        if (place.port != 0 && !place.host.empty() && place.host.size() <= detail::longest_host)
            found.replicas.push_back(std::move(place));
    }
    return found;
}

former_primary_search::former_primary_search(detail::event_loop& loop, const detail::redis_address& address)
    : loop_{loop},
      address_{address},
      limit_{clock::now() + std::min({longest_search, address.lag, address.connect_timeout / 2})},
      patience_{first_patience} {}

former_primary_search::~former_primary_search() {
    for (const auto& [place, replica] : replicas_) replica->stop();
}

void former_primary_search::search(const question& question, std::function<void(std::string)> done) {
    question_ = question;
    done_ = std::move(done);
    if (!timer_)
        timer_.emplace(loop_, [weak = weak_from_this()] {
            if (const auto alive = weak.lock()) alive->timer_fired();
        });
    asked_ = false;
    refused_ ? set_timer() : ask();  // what it attests may be another thing later: it still connects
}

void former_primary_search::ask() {
    asked_ = true;
    for (const detail::host_and_port& place : question_.replicas) {
        const auto known = replicas_.find(place);
        if (known != replicas_.end()) {
            known->second->ask(question_);
        } else if (replicas_.size() < most_replicas) {
            detail::redis_address there = address_;
            there.host = place.host;
            there.port = place.port;
            there.path.clear();
            const auto attested = [weak = weak_from_this()](std::string text) {
                if (const auto alive = weak.lock(); alive && alive->asked_) alive->finish(std::move(text));
            };
            const auto replica = std::make_shared<attesting_connection>(loop_, std::move(there), attested);
            replicas_.emplace(place, replica);
            replica->ask(question_);
            replica->start();
        }
    }
    set_timer();
}

void former_primary_search::set_timer() {
    const auto left = std::chrono::ceil<milliseconds>(limit_ - clock::now());
    timer_->set_after(std::clamp(left, milliseconds{0}, patience_));
    patience_ = std::min(2 * patience_, longest_search);
}

void former_primary_search::timer_fired() {
    if (clock::now() >= limit_) return finish({});
    asked_ ? finish(can_search) : ask();
}

void former_primary_search::finish(std::string attested) {
    timer_->cancel();
    refused_ = attested != can_search;
    asked_ = false;
    if (const auto done = std::exchange(done_, nullptr)) done(std::move(attested));
}

}  // namespace baton::redis
