package dev.quipu.appengine;

import com.google.appengine.api.datastore.DatastoreService;
import com.google.appengine.api.datastore.DatastoreServiceFactory;
import com.google.appengine.tools.development.testing.LocalDatastoreServiceTestConfig;
import com.google.appengine.tools.development.testing.LocalServiceTestHelper;
import com.google.apphosting.api.ApiProxy;
import org.jspecify.annotations.Nullable;

/**
 * Google's own stubs of App Engine, in this process: a datastore whose queries across entity groups
 * do not see half of what was committed until something reads it.
 */
final class Stubs {
  private static final float UNAPPLIED_PERCENT = 50;

  private static final LocalServiceTestHelper HELPER =
      new LocalServiceTestHelper(
          new LocalDatastoreServiceTestConfig()
              .setDefaultHighRepJobPolicyUnappliedJobPercentage(UNAPPLIED_PERCENT));

  private static ApiProxy.@Nullable Environment environment;

  private Stubs() {}

  /** An empty datastore, in place of the last. */
  static DatastoreService startAnew() {
    startCalls();
    return datastore();
  }

  /** The datastore that was started last. */
  static DatastoreService datastore() {
    return DatastoreServiceFactory.getDatastoreService();
  }

  /** An empty datastore, by the calls to it. */
  @SuppressWarnings("unchecked") // of the only kind of delegate that there is
  static OneAtATime startCalls() {
    if (environment == null) {
      ApiProxy.setEnvironmentFactory(() -> environment); // for all threads of a test
    } else {
      HELPER.tearDown();
    }
    HELPER.setUp();
    environment = ApiProxy.getCurrentEnvironment();
    OneAtATime calls = new OneAtATime(ApiProxy.getDelegate());
    ApiProxy.setDelegate(calls);
    return calls;
  }
}
