// Package transport accepts the connections of a server that speaks TLS, and sends what is written to those of HTTP/2 in as few pieces
// as it can.
//
// An HTTP/2 server of net/http writes frame by frame. Under TLS each frame of 16 kB becomes two records, of 16 kB and of nine bytes. Each
// record becomes a system call. A goroutine makes it that lives as long as the frame, and has to grow its stack first. For small answers
// that is a good part of all that a request costs, and for lists nearly all of it. A connection of this package takes what is written at
// once, and a goroutine of its own sends what came together:
//
//	net/http   frame, frame, frame        Write copies, and returns
//	conn       [.....................]    what is not sent yet: at most maxPending, then Write waits
//	tls.Conn   record | record | re       of full size
//	wire       [.....................]    one system call
//
// What happens between is that of net/http and crypto/tls: handshakes, protocols, their errors.
package transport
