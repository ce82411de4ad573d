// Package watch answers requests for watches, from the store to the socket:
//
//	broadcaster  follows the store for all watches of a version, and wakes them
//	Watch        finds the due events of one client: initial events, events of the store, bookmarks
//	feed         shares the encoded events of watches with the same parameters
//	printer      encodes an event in the client's representation
//	stream       writes chunks of events to the client; a socket writes them as websocket frames
//
// Package read defines which objects a watch is about, and the event of each write: see read.Collection.
package watch
