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

std::optional<host_and_port> read_place(std::string_view host, std::string_view port) {
    host_and_port place{std::string{host}, 0};
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), place.port);
    if (error != std::errc{} || end != port.data() + port.size() || place.port == 0) return {};
    if (host.empty() || host.size() > detail::longest_host) return {};
    return place;
}

/// The address of the Sentinels themselves: their credentials, and the TLS settings of the server.
detail::redis_address address_of_sentinels(const detail::redis_address& address) {
    detail::redis_address sentinel;
    sentinel.tls = address.tls;
    sentinel.connect_timeout = address.connect_timeout;
    sentinel.user = address.sentinel.user;
    sentinel.password = address.sentinel.password;
    sentinel.password_file = address.sentinel.password_file;
    return sentinel;
}

}  // namespace

sentinel_connection::sentinel_connection(detail::event_loop& loop, const detail::redis_address& address,
                                         std::function<void()> moved)
    : connection{loop, {}, address.connect_timeout},
      settings_{address.sentinel},
      moved_{std::move(moved)},
      sentinel_{address_of_sentinels(address)} {}

void sentinel_connection::begin() {
    answer_timer_.emplace(loop(), [weak = weak_from_this(), this] {
        if (const auto alive = weak.lock(); alive && !searches_.empty()) next_sentinel(where() + " does not answer");
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
    encode_words(bytes, {"SENTINEL", "GET-MASTER-ADDR-BY-NAME", settings_.primary});
    send(bytes, std::array{command_tag{1}});
    if (answer_timer_) answer_timer_->set_after(answer_timeout);
}

void sentinel_connection::open_socket(resp::socket_result done) {
    is_up_ = false;
    if (tried_ >= settings_.hosts.size() && !searches_.empty()) {
        store_error why = last_error_;
        why.text = "no Sentinel of " + joined(settings_.hosts, ", ") +
                   " knows where the primary is; the last one: " + (why.text.empty() ? why.code.message() : why.text);
        finish({{}, std::move(why), last_error_.code == errc::not_permitted || last_error_.code == errc::tls_failed});
    }
    const host_and_port& next = settings_.hosts[next_];
    next_ = (next_ + 1) % settings_.hosts.size();
    ++tried_;
    sentinel_.host = next.host;
    sentinel_.port = next.port;
    detail::connect_redis(loop(), sentinel_, [this, done = std::move(done)](resp::opened_socket made) {
        if (made.error.code) last_error_ = made.error;
        made.permanent = false;  // another Sentinel may do
        done(std::move(made));
    });
}

resp::handshake_step sentinel_connection::begin_handshake() {
    resp::handshake_step step;
    say_hello(step.send, sentinel_);
    return step;
}

resp::handshake_step sentinel_connection::continue_handshake(const resp::value& answer) {
    if (answer.kind == resp::kind::error) return failed(refused(sentinel_, {origin::reply, answer.text}));
    return {.epoch = 1};
}

resp::handshake_step sentinel_connection::explain(const resp::broken_connection& broken) const {
    return refused(sentinel_, broken);
}

/// Another Sentinel may do.
resp::handshake_step sentinel_connection::failed(resp::handshake_step step) {
    step.permanent = false;
    last_error_ = step.error;
    return step;
}

void sentinel_connection::up(epoch /*epoch*/) {
    is_up_ = true;
    std::string bytes;
    encode_words(bytes, {"SUBSCRIBE", switch_channel});  // its reply is a push message
    send(bytes, {});
    ask();  // the primary may have changed while there was no connection
}

void sentinel_connection::answered(command_tag /*tag*/, const resp::value& answer) {
    if (answer_timer_) answer_timer_->cancel();
    if (answer.kind == resp::kind::error) return next_sentinel(where() + ": " + printable(answer.text));
    if (answer.items.size() != 2)
        return next_sentinel(where() + " watches no primary with the name " + printable(settings_.primary) +
                             "; `redis-cli -h HOST -p PORT SENTINEL MASTERS` shows the names");
    const auto place = read_place(answer.items[0].text, answer.items[1].text);
    if (!place) return next_sentinel(where() + " gives an address that is not understood");
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

void sentinel_connection::next_sentinel(const std::string& why) {
    last_error_ = {errc::store_unavailable, why};
    is_up_ = false;
    reset(last_error_);
}

void sentinel_connection::finish(const found_primary& found) {
    for (const auto& done : std::exchange(searches_, {})) done(found);
}

std::string sentinel_connection::where() const {
    return "the Sentinel at " + host_and_port{sentinel_.host, sentinel_.port}.text();
}

}  // namespace baton::redis
