// Asio's own code, compiled once, in a namespace that no user's Asio has.
#include <asio/impl/src.hpp>
