// What most files of the library include, precompiled. A file still includes what it uses: the preset `clang` builds
// without precompiled headers and finds what is missing.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <ranges>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "baton/client.hpp"
#include "baton/inspect.hpp"
#include "baton/protocol.hpp"
#include "baton/store.hpp"
