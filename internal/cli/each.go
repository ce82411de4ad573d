package cli

import (
	"github.com/deed-project/deed/internal/dryrun"
	"github.com/deed-project/deed/internal/jobs"
)

// forEach does work for each task, several at a time, and calls use with the outcomes in order.
func forEach[T any](c *cli, what string, tasks []*dryrun.Task, work func(*dryrun.Task) T, use func(*dryrun.Task, T)) {
	tick, done := c.Progress(what)
	for i, outcome := range jobs.InOrder(c.Jobs, len(tasks), func(i int) T { return work(tasks[i]) }) {
		use(tasks[i], outcome)
		tick()
	}
	done()
}
