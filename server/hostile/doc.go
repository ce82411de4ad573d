// Package hostile has requests whose cost to a server could be out of proportion to their size.
//
//	Attack   one kind of request, of any size, with the objects that it needs
//	Attacks  the table of attacks
//	Place    the namespace and the API group of one run of an attack
//	Cost     the cost of one request to a server, and its bounds
//
// The test of this package is the short form: it sends each attack, at three sizes, to a server in its own process. The command
// server/hostile/attack is the long form: it sends attacks to a server over the network. It sends the table once, or random attacks for a
// time.
//
// A new attack is a row in one of the lists that [Attacks] joins. [Cost.Excess] checks the bounds of all attacks, and the fields of Attack
// those of one.
package hostile
