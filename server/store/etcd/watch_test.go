package etcd

import (
	"context"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
)

// overtaking is an etcd at revision 10 with one event, at revision 5. It answers a progress request as soon as the next watch of the stream
// has begun. Only then does it send the events of that watch, as a busy etcd may. It implements clientv3.KV and pb.WatchClient.
type overtaking struct {
	clientv3.KV
	pb.WatchClient
	asked chan bool // receives a value for each progress request
}

func (overtaking) Get(context.Context, string, ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	return &clientv3.GetResponse{Header: &pb.ResponseHeader{Revision: 10}}, nil
}

func (o overtaking) Watch(ctx context.Context, _ ...grpc.CallOption) (pb.Watch_WatchClient, error) {
	return &stream{overtaking: o, ctx: ctx, answers: make(chan *pb.WatchResponse, 10)}, nil
}

// stream implements pb.Watch_WatchClient.
type stream struct {
	pb.Watch_WatchClient
	overtaking overtaking
	ctx        context.Context
	answers    chan *pb.WatchResponse
	asked      bool
	watches    int64 // number of watches that began
}

func (s *stream) Send(r *pb.WatchRequest) error {
	if r.GetProgressRequest() != nil {
		s.asked = true
		s.overtaking.asked <- true
	}
	create := r.GetCreateRequest()
	if create == nil {
		return nil
	}
	latest := &pb.ResponseHeader{Revision: 10}
	s.answers <- &pb.WatchResponse{Header: latest, WatchId: s.watches, Created: true}
	if s.asked {
		s.answers <- &pb.WatchResponse{Header: latest, WatchId: clientv3.InvalidWatchID}
	}
	if create.StartRevision <= 5 {
		event := &mvccpb.Event{Kv: &mvccpb.KeyValue{Key: []byte("/a"), CreateRevision: 5, ModRevision: 5}}
		s.answers <- &pb.WatchResponse{Header: latest, WatchId: s.watches, Events: []*mvccpb.Event{event}}
	}
	s.watches++
	return nil
}

func (s *stream) Recv() (*pb.WatchResponse, error) {
	select {
	case r := <-s.answers:
		return r, nil
	case <-s.ctx.Done():
		return nil, s.ctx.Err()
	}
}

func (s *stream) CloseSend() error { return nil }

// TestPastIsToldFirst checks that a watch of the past misses no event when a progress notification for other watches overtakes it.
func TestPastIsToldFirst(t *testing.T) {
	there := overtaking{asked: make(chan bool, 100)}
	client := clientv3.NewCtxClient(t.Context())
	client.KV, client.Watcher = there, clientv3.NewWatchFromWatchClient(there, client)
	s := New(client, Keys{}, time.Now)
	defer s.Close()
	if err := s.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-there.asked
	batches, err := s.Watch(t.Context(), "/", 3)
	if err != nil {
		t.Fatal(err)
	}
	for b, err := range batches {
		if err != nil || len(b.Events) != 1 || b.Events[0].Revision != 5 || b.Revision != 5 {
			t.Errorf("after 3 come %d events, up to %d: %v", len(b.Events), b.Revision, err)
		}
		break
	}
}
