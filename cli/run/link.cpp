#include "run/link.hpp"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "run/shared_page.hpp"

namespace baton::cli {
namespace {

// Both ends are the same program on the same machine, so numbers are sent in their memory representation.
class writer {
public:
    void put(std::int64_t value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
    void put(const std::string& text) {
        put(static_cast<std::int64_t>(text.size()));
        bytes_ += text;
    }
    void put(const std::vector<std::string>& list) {
        put(static_cast<std::int64_t>(list.size()));
        for (const std::string& text : list) put(text);
    }
    void put(steady_time time) { put(count_of(time)); }
    void put(milliseconds duration) { put(std::int64_t{duration.count()}); }

    void body(const start_command& what) {
        put(what.arguments);
        put(what.environment);
        put(std::int64_t{what.take_terminal});
        put(what.start_by);
        put(what.max_hold ? count_of(*what.max_hold) : shared_page::never);
        put(what.times.kill_after);
        put(what.times.reserve);
        put(what.control_group);
    }
    void body(const signal_command& what) { put(std::int64_t{what.signal}); }
    void body(const stop_command& what) { put(what.kill_at); }
    void body(const resume_command& /*what*/) {}
    void body(const kept_session& what) {
        put(what.address);
        put(static_cast<std::int64_t>(what.session.high));
        put(static_cast<std::int64_t>(what.session.low));
        put(static_cast<std::int64_t>(what.epoch));
        put(what.ttl);
        put(static_cast<std::int64_t>(what.number));
    }
    void body(const command_started& what) {
        put(std::int64_t{what.id});
        put(std::int64_t{what.in_control_group});
    }
    void body(const command_overdue& /*what*/) {}
    void body(const command_failed& what) { put(std::int64_t{what.error}); }
    void body(const command_paused& what) { put(std::int64_t{what.signal}); }
    void body(const command_ended& what) {
        put(std::int64_t{what.status});
        put(static_cast<std::int64_t>(what.stopped));
        put(std::int64_t{what.left_behind});
        put(std::int64_t{what.survivors});
    }

    [[nodiscard]] std::string framed() const {
        writer head;
        head.put(static_cast<std::int64_t>(bytes_.size()));
        return head.bytes_ + bytes_;
    }

private:
    std::string bytes_;
};

class reader {
public:
    explicit reader(std::string_view bytes) : left_{bytes} {}

    std::int64_t number() {
        std::int64_t value = 0;
        std::memcpy(&value, take(sizeof value).data(), sizeof value);
        return value;
    }
    int small() { return static_cast<int>(number()); }
    std::string text() { return std::string{take(static_cast<std::size_t>(number()))}; }
    std::vector<std::string> list() {
        std::vector<std::string> result;
        for (std::int64_t left = number(); left > 0; --left) result.push_back(text());
        return result;
    }
    milliseconds duration() { return milliseconds{number()}; }

    void body(start_command& what) {
        what.arguments = list();
        what.environment = list();
        what.take_terminal = number() != 0;
        what.start_by = time_of(number());
        if (const std::int64_t at = number(); at != shared_page::never) what.max_hold = time_of(at);
        what.times.kill_after = duration();
        what.times.reserve = duration();
        what.control_group = text();
    }
    void body(signal_command& what) { what.signal = small(); }
    void body(stop_command& what) { what.kill_at = time_of(number()); }
    void body(resume_command& /*what*/) {}
    void body(kept_session& what) {
        what.address = text();
        what.session.high = static_cast<std::uint64_t>(number());
        what.session.low = static_cast<std::uint64_t>(number());
        what.epoch = static_cast<std::uint64_t>(number());
        what.ttl = duration();
        what.number = static_cast<std::uint64_t>(number());
    }
    void body(command_started& what) {
        what.id = small();
        what.in_control_group = number() != 0;
    }
    void body(command_overdue& /*what*/) {}
    void body(command_failed& what) { what.error = small(); }
    void body(command_paused& what) { what.signal = small(); }
    void body(command_ended& what) {
        what.status = small();
        what.stopped = static_cast<stopped_by>(number());
        what.left_behind = static_cast<std::uint32_t>(number());
        what.survivors = static_cast<std::uint32_t>(number());
    }

private:
    std::string_view take(std::size_t size) {
        if (size > left_.size()) throw std::logic_error{"a message between baton and its guardian is truncated"};
        const std::string_view taken = left_.substr(0, size);
        left_.remove_prefix(size);
        return taken;
    }

    std::string_view left_;
};

template <typename Message> std::string encode(const Message& message) {
    writer out;
    out.put(static_cast<std::int64_t>(message.index()));
    std::visit([&out](const auto& what) { out.body(what); }, message);
    return out.framed();
}

template <typename Message, std::size_t... Index>
void decode_as(reader& in, std::size_t wanted, Message& message, std::index_sequence<Index...> /*all*/) {
    const auto decode = [&]<std::size_t Candidate>(std::integral_constant<std::size_t, Candidate> /*index*/) {
        if (Candidate == wanted) in.body(message.template emplace<Candidate>());
    };
    (decode(std::integral_constant<std::size_t, Index>{}), ...);
}

}  // namespace

bool channel_end::send(const order& message) { return send_bytes(encode(message)); }
bool channel_end::send(const report& message) { return send_bytes(encode(message)); }
bool channel_end::receive(std::vector<order>& messages) { return receive_any(messages); }
bool channel_end::receive(std::vector<report>& messages) { return receive_any(messages); }

void channel_end::close() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

bool channel_end::send_bytes(const std::string& bytes) {
    const std::lock_guard lock{sending_};
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t sent = ::send(descriptor_, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
        if (sent >= 0)
            done += static_cast<std::size_t>(sent);
        else if (errno == EAGAIN) {
            pollfd writable{descriptor_, POLLOUT, 0};
            ::poll(&writable, 1, -1);
        } else if (errno != EINTR)
            return false;
    }
    return true;
}

template <typename Message> bool channel_end::receive_any(std::vector<Message>& messages) {
    bool open = true;
    for (std::array<char, 4096> bytes;;) {
        const ssize_t length = ::recv(descriptor_, bytes.data(), bytes.size(), MSG_DONTWAIT);
        if (length > 0) {
            read_.append(bytes.data(), static_cast<std::size_t>(length));
            continue;
        }
        if (length < 0 && errno == EINTR) continue;
        open = length < 0 && errno == EAGAIN;
        break;
    }
    for (;;) {
        if (read_.size() < sizeof(std::int64_t)) return open;
        const auto size = static_cast<std::size_t>(reader{read_}.number());
        if (read_.size() - sizeof(std::int64_t) < size) return open;
        reader in{std::string_view{read_}.substr(sizeof(std::int64_t), size)};
        const auto index = static_cast<std::size_t>(in.number());
        Message message;
        decode_as(in, index, message, std::make_index_sequence<std::variant_size_v<Message>>{});
        messages.push_back(std::move(message));
        read_.erase(0, sizeof(std::int64_t) + size);
    }
}

}  // namespace baton::cli
