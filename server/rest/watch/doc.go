// Package watch answers requests for watches, from the store to the socket:
//
//	broadcaster  follows the store for all watches of a version, and wakes them
//	Watch        finds the events that are due for one client: initial events, events of the store, bookmarks
//	feed         has the events of watches that ask for the same, encoded once
//	printer      encodes an event in the representation that the client wants
//	stream       writes chunks of events to the client; a socket writes them as frames of a websocket
//
// Package rest decides which objects a watch is about, and what a write means to it: see read.Collection.
package watch
