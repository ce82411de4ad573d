// Package controllers runs controller-runtime against package apitest, like the tests of a controller: its client, its cache, and a manager
// with a controller and leader election. It contains only tests. It is a module of its own, because a manager needs many modules that the
// server does not.
package controllers
