// Package controllers runs controller-runtime against package apitest, as the tests of a controller do: its client, its cache, and
// a manager with a controller and leader election. It holds nothing but tests, in a module of its own, so that users of apitest are
// free to take another version of controller-runtime.
package controllers
