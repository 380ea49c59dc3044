// FerretDB 1.24 (MongoDB's wire protocol over SQLite) as a stand-in for mongod.
//
// FerretDB finds the documents of an update and writes them in two steps: of two at once, one is lost. mongod
// promises that an update of one document is atomic, and compare-and-set stands on that. So clients are not let at
// FerretDB directly: commands that write go through one at a time.
package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/FerretDB/FerretDB/ferretdb"
)

const (
	headerBytes = 16
	maxBytes    = 64 << 20
	opMsg       = 2013
	moreToCome  = 1 << 1
)

var reads = map[string]bool{
	"find": true, "getMore": true, "count": true, "aggregate": true, "distinct": true, "explain": true,
	"hello": true, "isMaster": true, "ismaster": true, "ping": true, "buildInfo": true, "killCursors": true,
	"listCollections": true, "listIndexes": true, "listDatabases": true, "endSessions": true,
}

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "address; port 0: any free one")
	dir := flag.String("dir", "", "folder of the SQLite files, ends with /")
	flag.Parse()
	server, err := ferretdb.New(&ferretdb.Config{
		Listener:  ferretdb.ListenerConfig{TCP: "127.0.0.1:0"},
		Logger:    slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
		Handler:   "sqlite",
		SQLiteURL: "file:" + *dir,
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	go front(*listen, server)
	if err := server.Run(ctx); err != nil {
		log.Fatal(err)
	}
}

func front(listen string, server *ferretdb.FerretDB) {
	uri, err := url.Parse(server.MongoDBURI())
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", listener.Addr())
	var writing sync.Mutex
	for {
		client, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go func() {
			defer client.Close()
			if err := relay(client, uri.Host, &writing); err != nil && !errors.Is(err, io.EOF) {
				log.Print(err)
			}
		}()
	}
}

// Requests of one connection, each followed by its answer.
func relay(client net.Conn, address string, writing *sync.Mutex) error {
	backend, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer backend.Close()
	for {
		request, err := read(client)
		if err != nil {
			return err
		}
		answer, err := exchange(backend, request, writing)
		if err != nil {
			return err
		}
		if _, err := client.Write(answer); err != nil {
			return err
		}
	}
}

func exchange(backend net.Conn, request []byte, writing *sync.Mutex) ([]byte, error) {
	if !reads[commandOf(request)] {
		writing.Lock()
		defer writing.Unlock()
	}
	if _, err := backend.Write(request); err != nil {
		return nil, err
	}
	if isMsg(request) && binary.LittleEndian.Uint32(request[headerBytes:])&moreToCome != 0 {
		return nil, nil
	}
	return read(backend)
}

func read(from io.Reader) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(from, length[:]); err != nil {
		return nil, err
	}
	size := binary.LittleEndian.Uint32(length[:])
	if size < headerBytes || size > maxBytes {
		return nil, fmt.Errorf("message of %d bytes", size)
	}
	message := make([]byte, size)
	copy(message, length[:])
	_, err := io.ReadFull(from, message[4:])
	return message, err
}

func isMsg(message []byte) bool {
	return len(message) >= headerBytes+4 && binary.LittleEndian.Uint32(message[12:]) == opMsg
}

// The name of the command: the first key of the body, which drivers send as the first section. "" when unknown.
func commandOf(message []byte) string {
	const key = headerBytes + 4 + 1 + 4 + 1
	if !isMsg(message) || len(message) < key || message[headerBytes+4] != 0 {
		return ""
	}
	end := bytes.IndexByte(message[key:], 0)
	if end < 0 {
		return ""
	}
	return string(message[key : key+end])
}
