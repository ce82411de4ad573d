package validation

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/deed-project/deed/value"
)

// maxCronName is how long the name of a CronJob may be: its jobs have eleven characters more.
const maxCronName = 52

// cronJob refuses a CronJob.
func cronJob(r *report, object place, live value.Value) {
	spec := object.at("spec")
	r.schedule(spec, live.Get("spec"))
	r.natural(spec.at("startingDeadlineSeconds"))
	if zone := spec.at("timeZone"); zone.is() && !zone.Equal(live.Get("spec", "timeZone")) {
		r.timeZone(zone)
	}
	r.among(spec.at("concurrencyPolicy"), "Allow", "Forbid", "Replace")
	template := spec.at("jobTemplate")
	job := template.at("spec")
	r.jobSpec(job)
	if selector := job.at("selector"); selector.is() {
		r.invalid(selector, "`selector` will be auto-generated")
	}
	if manual := job.at("manualSelector"); manual.Bool() {
		r.notSupported(manual, "nil", "false")
	}
	r.natural(spec.at("successfulJobsHistoryLimit"))
	r.natural(spec.at("failedJobsHistoryLimit"))
	metadata := object.at("metadata")
	if name := metadata.at("name"); !isSet(live) && len(name.Str()) > maxCronName {
		r.invalid(name, fmt.Sprintf("must be no more than %d characters", maxCronName))
	}
}

// schedule refuses when jobs are made. A time zone may be in it only if one was.
func (r *report) schedule(spec place, was value.Value) {
	p := spec.at("schedule")
	if p.Str() == "" {
		r.later(p, "")
		return
	}
	if err := parseSchedule(p.Str()); err != nil {
		r.invalid(p, err.Error())
	}
	if !strings.Contains(p.Str(), "TZ") {
		return
	}
	if !strings.Contains(was.Get("schedule").Str(), "TZ") {
		r.invalid(p, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead")
	} else if isSet(spec.Get("timeZone")) {
		r.invalid(p, "cannot use both timeZone field and TZ or CRON_TZ in schedule")
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
var zoneCharacters = regexp.MustCompile(`^[A-Za-z\.\-_0-9+]{1,14}$`)

// timeZone refuses a name of no time zone.
func (r *report) timeZone(p place) {
	if p.Str() == "" {
		r.invalid(p, "timeZone must be nil or non-empty string")
		return
	}
	for part := range strings.SplitSeq(p.Str(), "/") {
		if part == "." || part == ".." || strings.HasPrefix(part, "-") || !zoneCharacters.MatchString(part) {
			r.invalid(p, "unknown time zone "+p.Str())
			return
		}
	}
	if strings.EqualFold(p.Str(), "Local") {
		r.invalid(p, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones")
	}
	if _, err := time.LoadLocation(p.Str()); err != nil {
		r.invalid(p, err.Error())
	}
}
