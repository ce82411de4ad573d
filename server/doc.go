// Package server is an API server for custom resources and built-in kinds: an http.Handler that answers as kube-apiserver does, on a
// store of its own.
//
//	New        makes a server of a Config
//	ServeHTTP  answers a request: a server is an http.Handler
//	Close      ends what it does in the background
//
// A request passes the filters (handler.go). Then route.go leads its path to a document of discovery, or resources.go to the verb of a resource
// in the packages below rest and registry. answer.go writes the answer. Nothing here is global: a process may run hundreds of servers.
package server
