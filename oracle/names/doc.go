// Package names holds tests of the public names of the core packages.
package names
