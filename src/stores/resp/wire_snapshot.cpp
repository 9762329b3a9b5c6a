// Encodes and decodes snapshots: maps with the field names of protocol/fields.hpp as keys, so that people can read the
// reply to `redis-cli -s PATH BATON.INSPECT`. Absent fields are left out. A reader ignores unknown fields, and uses the
// defaults for missing ones.
#include <utility>

#include "protocol/fields.hpp"
#include "stores/resp/wire.hpp"

namespace baton::resp {
namespace {

using namespace protocol;

class map_writer {
public:
    template <typename Field> void operator()(std::string_view key, const Field& field) {
        writer{pairs_}.bulk(key);
        put(pairs_, field);
        ++count_;
    }
    template <typename Field> void operator()(std::string_view key, const std::optional<Field>& field) {
        if (field) (*this)(key, *field);
    }

    template <typename Map> static void put_map(std::string& out, const Map& map) {
        map_writer write;
        fields(write, map);
        writer{out}.map(write.count_);
        out += write.pairs_;
    }

private:
    static void put(std::string& out, std::string_view text) { writer{out}.bulk(text); }
    template <std::unsigned_integral Number> static void put(std::string& out, Number number) {
        writer{out}.number(std::uint64_t{number});
    }
    static void put(std::string& out, duration time) { writer{out}.number(std::int64_t{time.count()}); }
    static void put(std::string& out, instant time) { put(out, time.time_since_epoch()); }
    template <worded Enum> static void put(std::string& out, Enum value) { put(out, word(value)); }
    template <typename Item> static void put(std::string& out, const std::vector<Item>& list) {
        writer{out}.array(list.size());
        for (const Item& item : list) put(out, item);
    }
    template <described Map> static void put(std::string& out, const Map& map) { put_map(out, map); }

    std::string pairs_;
    std::size_t count_ = 0;
};

/// A field of a wrong kind sets `failed`.
class map_reader {
public:
    template <typename Map> static void get_map(const value& from, bool& failed, Map& map) {
        if (from.kind != kind::map) failed = true;
        map_reader read{from, failed};
        fields(read, map);
    }

    template <typename Field> void operator()(std::string_view key, Field& field) {
        if (const value* found = find(key)) get(*found, field);
    }
    template <typename Field> void operator()(std::string_view key, std::optional<Field>& field) {
        if (const value* found = find(key)) get(*found, field.emplace());
    }

private:
    map_reader(const value& map, bool& failed) : map_{map}, failed_{failed} {}

    [[nodiscard]] const value* find(std::string_view key) const {
        for (std::size_t i = 0; i + 1 < map_.items.size(); i += 2)
            if (map_.items[i].text == key) return &map_.items[i + 1];
        return nullptr;
    }
    [[nodiscard]] bool is(const value& item, resp::kind kind) {
        if (item.kind != kind) failed_ = true;
        return item.kind == kind;
    }

    void get(const value& item, std::string& text) {
        if (is(item, kind::bulk)) text = item.text;
    }
    template <std::integral Number> void get(const value& item, Number& number) {
        if (!is(item, kind::number)) return;
        if (!std::in_range<Number>(item.number)) failed_ = true;
        number = static_cast<Number>(item.number);
    }
    void get(const value& item, bool& flag) {
        if (is(item, kind::number)) flag = item.number != 0;
    }
    void get(const value& item, duration& time) {
        if (is(item, kind::number)) time = duration{item.number};
    }
    void get(const value& item, instant& time) {
        if (is(item, kind::number)) time = instant{duration{item.number}};
    }
    template <worded Enum> void get(const value& item, Enum& value) {
        const auto known = is(item, kind::bulk) ? from_word<Enum>(item.text) : std::nullopt;
        if (!known) failed_ = true;
        value = known.value_or(Enum{});
    }
    template <typename Item> void get(const value& item, std::vector<Item>& list) {
        if (!is(item, kind::array)) return;
        for (const value& each : item.items) get(each, list.emplace_back());
    }
    template <described Map> void get(const value& item, Map& map) { get_map(item, failed_, map); }

    const value& map_;
    bool& failed_;
};

}  // namespace

void encode(std::string& out, const snapshot& snapshot) { map_writer::put_map(out, snapshot); }

std::optional<snapshot> decode_snapshot(const value& value) {
    bool failed = false;
    snapshot snapshot;
    map_reader::get_map(value, failed, snapshot);
    return failed ? std::nullopt : std::optional{std::move(snapshot)};
}

}  // namespace baton::resp
