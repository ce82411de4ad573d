package main

import (
	"errors"
	"os"
	"runtime"
	"runtime/pprof"
)

// profiled runs work under the requested profiles.
func (o options) profiled(work func() (int, error)) (missed int, err error) {
	if o.memProfile != "" {
		runtime.MemProfileRate = 4096 // in bytes: the default rate misses most small objects
		allocating := work
		work = func() (int, error) {
			missed, err := allocating()
			return missed, errors.Join(err, writeAllocs(o.memProfile))
		}
	}
	if o.cpuProfile == "" {
		return work()
	}
	file, err := os.Create(o.cpuProfile)
	if err != nil {
		return 0, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return 0, errors.Join(err, file.Close())
	}
	missed, err = work()
	pprof.StopCPUProfile()
	return missed, errors.Join(err, file.Close())
}

func writeAllocs(name string) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(pprof.Lookup("allocs").WriteTo(file, 0), file.Close())
}
