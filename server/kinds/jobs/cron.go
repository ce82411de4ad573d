package jobs

import (
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// maxCronName is how long the name of a CronJob may be: its jobs have eleven characters more.
const maxCronName = 52

// ValidateCron refuses a CronJob.
func ValidateCron(r *walk.Report, object walk.Place, live value.Value) {
	spec := object.At("spec")
	validateSchedule(r, spec, live.Get("spec"))
	r.Natural(spec.At("startingDeadlineSeconds"))
	if zone := spec.At("timeZone"); zone.IsSet() && !zone.Equal(live.Get("spec", "timeZone")) {
		validateTimeZone(r, zone)
	}
	r.Among(spec.At("concurrencyPolicy"), "Allow", "Forbid", "Replace")
	template := spec.At("jobTemplate")
	job := template.At("spec")
	validateJobSpec(r, job)
	if selector := job.At("selector"); selector.IsSet() {
		r.Invalid(selector, "`selector` will be auto-generated")
	}
	if manual := job.At("manualSelector"); manual.Bool() {
		r.NotSupported(manual, "nil", "false")
	}
	r.Natural(spec.At("successfulJobsHistoryLimit"))
	r.Natural(spec.At("failedJobsHistoryLimit"))
	metadata := object.At("metadata")
	if name := metadata.At("name"); !walk.IsSet(live) && len(name.Str()) > maxCronName {
		r.Invalid(name, fmt.Sprintf("must be no more than %d characters", maxCronName))
	}
}

// validateSchedule refuses when jobs are made. A time zone may be in it only if one was.
//
// An update may keep a time zone that was permitted when the object was created.
func validateSchedule(r *walk.Report, spec walk.Place, was value.Value) {
	p := spec.At("schedule")
	if p.Str() == "" {
		r.RequiredLater(p, "")
		return
	}
	if err := parseSchedule(p.Str()); err != nil {
		r.Invalid(p, err.Error())
	}
	if !strings.Contains(p.Str(), "TZ") {
		return
	}
	if !strings.Contains(was.Get("schedule").Str(), "TZ") {
		r.Invalid(p, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead")
	} else if walk.IsSet(spec.Get("timeZone")) {
		r.Invalid(p, "cannot use both timeZone field and TZ or CRON_TZ in schedule")
	}
}

// parseSchedule returns why a text is no schedule. The library panics at some.
func parseSchedule(text string) (err error) {
	defer func() {
		if problem := recover(); problem != nil {
			err = fmt.Errorf("invalid schedule format: %v", problem)
		}
	}()
	_, err = cron.ParseStandard(text)
	return err
}

// zoneCharacters are those that a part of the name of a time zone may have.
var zoneCharacters = walk.LazyRegexp(`^[A-Za-z\.\-_0-9+]{1,14}$`)

// validateTimeZone refuses a name of no time zone.
//
// The characters are checked before the zone is looked up, so that the name cannot lead out of the database of zones.
func validateTimeZone(r *walk.Report, p walk.Place) {
	if p.Str() == "" {
		r.InvalidPointer(p, "timeZone must be nil or non-empty string")
		return
	}
	for part := range strings.SplitSeq(p.Str(), "/") {
		if part == "." || part == ".." || strings.HasPrefix(part, "-") || !zoneCharacters().MatchString(part) {
			r.InvalidPointer(p, "unknown time zone "+p.Str())
			return
		}
	}
	if strings.EqualFold(p.Str(), "Local") {
		r.InvalidPointer(p, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones")
	}
	if _, err := time.LoadLocation(p.Str()); err != nil {
		r.InvalidPointer(p, err.Error())
	}
}
