// Package hostile keeps the requests that are made to cost a server more than their bytes deserve.
//
//	Attack   one kind of request, as large as one likes, with the objects that it needs
//	Attacks  the table of them
//	Place    the namespace and the API group that one run of an attack has for itself
//	Cost     what one request cost a server, and whether that is too much
//
// The test of this package is the short form: it sends each attack to a server in its own process, at three sizes. The long form is the
// command server/hostile/attack, which sends them to a server over the network: the table once, or attacks at random for a time.
//
// To add an attack is to add a row to one of the lists that [Attacks] joins. What it must not do is said by [Cost.Excess] for all of them,
// and by the fields of Attack for each.
package hostile
