package server

import (
	"context"
	"errors"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/controllers"
	"github.com/deed-project/deed/server/flowcontrol"
	"github.com/deed-project/deed/server/store"
)

// limitByFlows makes the stored FlowSchemas and priority levels decide how many requests are carried out at once.
func (s *Server) limitByFlows(objects store.Store, always []*catalog.Resource) {
	schemas, levels := resourceIn(always, flowcontrol.Group, flowcontrol.Schemas), resourceIn(always, flowcontrol.Group, flowcontrol.Levels)
	s.flows = flowcontrol.New(objects, schemas, levels, s.limits.Reading+s.limits.Writing, s.log)
	s.metrics.Seats = s.flows.Seats
	s.maintainer = &flowcontrol.Maintainer{Store: objects, Schemas: schemas, Levels: levels, Client: s.client, Now: s.now}
}

// startFlows creates the objects that a cluster begins with. From then on it keeps them, and follows what is written to the store, also by
// other servers.
func (s *Server) startFlows(ctx context.Context) error {
	if err := errors.Join(s.maintainer.Ensure(ctx), s.maintainer.Settle(ctx)); err != nil {
		return err
	}
	s.background.Every(flowcontrol.AdjustInterval, s.flows.Adjust)
	s.background.Every(flowcontrol.MaintenanceInterval, func(ctx context.Context) {
		s.background.Report("FlowSchemas and priority levels are not kept", s.maintainer.Ensure(ctx))
	})
	for _, r := range []*catalog.Resource{s.maintainer.Schemas, s.maintainer.Levels} {
		s.background.Go(func(ctx context.Context) {
			controllers.Follow(ctx, s.reader.Store, r.Prefix, func(ctx context.Context) error {
				s.flows.Changed()
				return s.maintainer.Settle(ctx)
			}, func(err error) { s.background.Report("FlowSchemas are not settled", err) })
		})
	}
	return nil
}
