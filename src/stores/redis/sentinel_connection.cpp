#include "stores/redis/sentinel_connection.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <utility>

#include "baton/error.hpp"
#include "baton/printable.hpp"
#include "stores/redis/connect.hpp"
#include "stores/redis/handshake.hpp"
#include "stores/redis/refusals.hpp"

namespace baton::redis {
namespace {

using detail::host_and_port;

/// Sentinels reply at once. A silent one is left for the next.
constexpr std::chrono::seconds answer_timeout{1};
constexpr const char* switch_channel = "+switch-master";

void encode_words(std::string& out, std::initializer_list<std::string_view> words) {
    resp::writer write{out};
    write.array(words.size());
    for (const std::string_view word : words) write.bulk(word);
}

void encode_question(std::string& out, const std::string& primary) {
    encode_words(out, {"SENTINEL", "GET-MASTER-ADDR-BY-NAME", primary});
}

std::optional<host_and_port> read_place(std::string_view host, std::string_view port) {
    host_and_port place{std::string{host}, 0};
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), place.port);
    if (error != std::errc{} || end != port.data() + port.size() || place.port == 0) return {};
    if (host.empty() || host.size() > detail::longest_host) return {};
    return place;
}

}  // namespace

std::optional<host_and_port> read_primary(const resp::value& reply) {
    if (reply.items.size() != 2) return {};
    return read_place(reply.items[0].text, reply.items[1].text);
}

sentinel_connection::sentinel_connection(detail::event_loop& loop, const detail::redis_address& address,
                                         std::function<void()> moved)
    : connection{loop, {}, address.connect_timeout},
      settings_{address.sentinel},
      moved_{std::move(moved)},
      sentinel_{detail::address_of_sentinel(address, address.sentinel.hosts.front())} {}

void sentinel_connection::begin() {
    answer_timer_.emplace(loop(), [weak = weak_from_this(), this] {
        if (const auto alive = weak.lock(); alive && !searches_.empty()) next_sentinel(useless(" does not answer"));
    });
}

void sentinel_connection::end() {
    searches_.clear();
    answer_timer_.reset();
}

void sentinel_connection::find(std::function<void(const found_primary&)> done) {
    searches_.push_back(std::move(done));
    if (searches_.size() > 1) return;
    tried_ = 0;
    if (is_up_) return ask();
    reset();  // without waiting for the end of a back-off
}

void sentinel_connection::ask() {
    std::string bytes;
    encode_question(bytes, settings_.primary);
    send(bytes, std::array{command_tag{1}});
    if (answer_timer_) answer_timer_->set_after(answer_timeout);
}

void sentinel_connection::open_socket(resp::socket_result done) {
    is_up_ = false;
    if (tried_ >= settings_.hosts.size() && !searches_.empty()) {
        store_error why = last_error_;
        why.text = "no Sentinel of " + joined(settings_.hosts, ", ") +
                   " knows where the primary is; the last one: " + (why.text.empty() ? why.code.message() : why.text);
        const auto is = [this](errc code) { return last_error_.code == code; };
        finish({{}, std::move(why), is(errc::not_permitted) || is(errc::tls_failed) || is(errc::unsupported)});
        return done({-1, last_error_});  // and back off, until the next search
    }
    const host_and_port& next = settings_.hosts[next_];
    next_ = (next_ + 1) % settings_.hosts.size();
    ++tried_;
    sentinel_.host = next.host;
    sentinel_.port = next.port;
    detail::connect_redis(loop(), sentinel_, std::move(done));
}

resp::handshake_step sentinel_connection::begin_handshake() {
    resp::handshake_step step;
    greeted_ = false;
    say_hello(step.send, sentinel_);
    return step;
}

/// The reply to SUBSCRIBE is a push message, but for an error: so the first question follows it in the handshake.
resp::handshake_step sentinel_connection::continue_handshake(const resp::value& answer) {
    if (answer.kind == resp::kind::error) return refused(sentinel_, {origin::reply, answer.text});
    if (std::exchange(greeted_, true)) {
        first_answer_ = answer;
        return {.epoch = 1};
    }
    resp::handshake_step step;
    encode_words(step.send, {"SUBSCRIBE", switch_channel});
    encode_question(step.send, settings_.primary);
    return step;
}

resp::handshake_step sentinel_connection::explain(const resp::broken_connection& broken) const {
    return refused(sentinel_, broken);
}

void sentinel_connection::up(epoch /*epoch*/) {
    is_up_ = true;
    answered({}, std::exchange(first_answer_, {}));  // the primary may have changed while there was no connection
}

void sentinel_connection::answered(command_tag /*tag*/, const resp::value& answer) {
    if (answer_timer_) answer_timer_->cancel();
    if (answer.kind == resp::kind::error) return next_sentinel(refused(sentinel_, {origin::reply, answer.text}).error);
    if (answer.items.size() != 2)
        return next_sentinel(useless(" watches no primary with the name " + printable(settings_.primary) +
                                     "; `redis-cli -h HOST -p PORT SENTINEL MASTERS` shows the names"));
    const auto place = read_primary(answer);
    if (!place) return next_sentinel(useless(" gives an address that is not understood"));
    tried_ = 0;
    note(*place);
    finish({*place});
}

void sentinel_connection::pushed(const resp::value& message) {
    if (message.items.size() != 3 || message.items[0].text != "message") return;
    // NAME OLD-HOST OLD-PORT NEW-HOST NEW-PORT
    std::array<std::string_view, 5> words;
    std::string_view rest = message.items[2].text;
    for (std::string_view& word : words) {
        const std::size_t end = std::min(rest.find(' '), rest.size());
        word = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (words[0] != settings_.primary) return;
    if (const auto place = read_place(words[3], words[4])) note(*place);
}

void sentinel_connection::note(const host_and_port& primary) {
    const bool has_moved = primary_ && *primary_ != primary;
    primary_ = primary;
    if (has_moved && searches_.empty()) moved_();  // a search returns it
}

void sentinel_connection::next_sentinel(const store_error& why) {
    last_error_ = why;
    is_up_ = false;
    reset(last_error_);
}

void sentinel_connection::finish(const found_primary& found) {
    for (const auto& done : std::exchange(searches_, {})) done(found);
}

store_error sentinel_connection::useless(const std::string& why) const {
    const std::string place = host_and_port{sentinel_.host, sentinel_.port}.text();
    return {errc::store_unavailable, "the Sentinel at " + place + why, {}, true};
}

}  // namespace baton::redis
