// Package server is an API server for custom resources: an http.Handler that answers as kube-apiserver does, on a store of its
// own.
//
//	New      makes a server of a Config
//	Handler  is the server itself: ServeHTTP
//	Close    ends what it does in the background
//
// How a request goes: ServeHTTP in handler.go gives it an id, finds out who sends it, and routes its path to a document of
// discovery or to a verb of package rest; answer.go writes what comes back. Nothing here is global: a process may run hundreds of
// servers.
package server
