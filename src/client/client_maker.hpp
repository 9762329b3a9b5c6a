// A client with a stand-in, for the program `baton` itself.
#pragma once

#include <memory>

#include "baton/client.hpp"
#include "baton/store.hpp"
#include "client/stand_in.hpp"

namespace baton::detail {

struct client_maker {
    [[nodiscard]] static client make(std::shared_ptr<store> store, const client_options& options,
                                     std::shared_ptr<stand_in> stand_in);
};

}  // namespace baton::detail
