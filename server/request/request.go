// Package request holds what the server knows of a request beside the HTTP request itself: which resource the path names and which verb the
// method means ([Info]), the user and the deadline ([Context]), and the listener that the request came through ([Listener]).
package request
