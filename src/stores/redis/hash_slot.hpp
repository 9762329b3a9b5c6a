// The hash slot of a cluster that a space is in: the CRC16 (XMODEM) of the hash tag of its keys, modulo 16384.
#pragma once

#include <cstdint>
#include <string_view>

namespace baton::redis {

inline constexpr unsigned hash_slots = 16'384;

/// The hash tag of the keys of a space is its name.
[[nodiscard]] constexpr unsigned hash_slot_of(std::string_view space) {
    std::uint32_t crc = 0;
    for (const char letter : space) {
        crc ^= static_cast<std::uint32_t>(static_cast<unsigned char>(letter)) << 8U;
        for (int bit = 0; bit < 8; ++bit) crc = ((crc << 1U) ^ ((crc & 0x8000U) != 0 ? 0x1021U : 0U)) & 0xffffU;
    }
    return crc % hash_slots;
}
static_assert(hash_slot_of("123456789") == 0x31c3U % hash_slots);  // the check value of this CRC

}  // namespace baton::redis
